#include "policies/audit_log.h"

#include "tests/unit/policies/gate_fixture.h"

#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace remotemac::policies {
namespace {
using nlohmann::json;
const std::string k_time = "2026-12-01T00:00:00.000Z";

struct Log {
  test::TempDir dir;
  PosixFileSystem disk;
  AuditLog log{disk, dir / "audit"};
  [[nodiscard]] std::filesystem::path file() const { return dir / "audit" / "audit.jsonl"; }
  void fill(int records) {
    for (int i = 0; i < records; ++i) {
      const Result<void> done = log.append("transfer-allowed", k_time, {{"n", i}});
      ASSERT_TRUE(done) << done.error().chain();
    }
  }
  [[nodiscard]] AuditVerification verify() const {
    const Result<AuditVerification> out = log.verify();
    EXPECT_TRUE(out);
    return out ? *out : AuditVerification{};
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> out;
    std::string text = test::read_file(file());
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      out.push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
    return out;
  }
  void write_lines(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines)
      text += line + "\n";
    test::write_file(file(), text);
  }
};

TEST(AuditLog, ANewLogIsSoundAndEmpty) {
  const Log log;
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.verify().records, 0u);
}

TEST(AuditLog, RecordsAreCanonicalAndChained) {
  Log log;
  log.fill(5);
  EXPECT_TRUE(log.verify().sound());
  const Result<std::vector<json>> records = log.log.records();
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 5u);
  EXPECT_EQ((*records)[3]["seq"], 3);
  EXPECT_EQ((*records)[0]["before"], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(log.lines()[0].substr(0, 11), "{\"before\":\"");
}

TEST(AuditLog, EveryChangedRemovedOrReorderedLineIsFound) {
  Log log;
  log.fill(7);
  const std::vector<std::string> good = log.lines();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::string> changed = good;
    changed[i].replace(changed[i].find("\"n\":"), 5, "\"n\":9");
    log.write_lines(changed);
    EXPECT_FALSE(log.verify().sound()) << "changed line " << i + 1;

    std::vector<std::string> removed = good;
    removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
    log.write_lines(removed);
    EXPECT_FALSE(log.verify().sound()) << "removed line " << i + 1;

    std::vector<std::string> twice = good;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), good[i]);
    log.write_lines(twice);
    EXPECT_FALSE(log.verify().sound()) << "repeated line " << i + 1;

    if (i + 1 < good.size()) {
      std::vector<std::string> swapped = good;
      std::swap(swapped[i], swapped[i + 1]);
      log.write_lines(swapped);
      EXPECT_FALSE(log.verify().sound()) << "swapped line " << i + 1;
    }
  }
  log.write_lines(good);
  EXPECT_TRUE(log.verify().sound());
}

TEST(AuditLog, EverySingleByteCounts) {
  Log log;
  log.fill(3);
  const std::string good = test::read_file(log.file());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    test::write_file(log.file(), bad);
    EXPECT_FALSE(log.verify().sound()) << "byte " << i;
  }
}

TEST(AuditLog, ACutOffEndIsFound) {
  Log log;
  log.fill(4);
  std::vector<std::string> lines = log.lines();
  lines.pop_back();
  log.write_lines(lines);
  ASSERT_FALSE(log.verify().sound());
  EXPECT_NE(log.verify().problems[0].what.find("the end was removed"), std::string::npos);
}

TEST(AuditLog, NothingIsAppendedToALogThatCannotBeTrusted) {
  Log log;
  log.fill(4);
  std::vector<std::string> lines = log.lines();
  std::swap(lines[1], lines[2]);
  log.write_lines(lines);
  const Result<void> done = log.log.append("transfer-allowed", k_time, json::object());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(log.lines().size(), 4u);
}

TEST(AuditLog, ACrashInTheMiddleOfALineIsReportedAndSurvived) {
  Log log;
  log.fill(3);
  const std::string whole = test::read_file(log.file());
  test::write_file(log.file(), whole + "{\"before\":\"abc");
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.verify().notes.size(), 1u);
  log.fill(1);
  EXPECT_TRUE(log.verify().sound());
  const Result<std::vector<json>> records = log.log.records();
  EXPECT_EQ(records->at(3)["type"], "torn-line");
  EXPECT_EQ(records->at(4)["type"], "transfer-allowed");
  // A line of rubbish without such a report is not taken for a crash.
  std::vector<std::string> lines = log.lines();
  lines[3] = "rubbish";
  log.write_lines(lines);
  EXPECT_FALSE(log.verify().sound());
}

TEST(AuditLog, ACrashBetweenLineAndHeadIsSurvived) {
  Log log;
  log.fill(2);
  const std::string head = test::read_file(log.dir / "audit" / "head.json");
  log.fill(1);
  test::write_file(log.dir / "audit" / "head.json", head);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.verify().notes.size(), 1u); // it could be a line that somebody added
  log.fill(1);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_TRUE(log.verify().notes.empty());
}

TEST(AuditLog, AMissingHeadIsFound) {
  Log log;
  log.fill(3);
  std::filesystem::remove(log.dir / "audit" / "head.json");
  EXPECT_FALSE(log.verify().sound());
  log.write_lines({log.lines()[0]}); // cut down to its first line
  EXPECT_FALSE(log.verify().sound());
}

TEST(AuditLog, FileListsAreProvenAndHoldNoPaths) {
  Log log;
  Project project;
  project.write("patients/secret_name.py", "print(1)\n");
  const Judgement judgement = project.judge(k_code);
  const Result<std::string> list = log.log.store_file_list(judgement);
  ASSERT_TRUE(list) << list.error().chain();
  ASSERT_TRUE(log.log.append("transfer-allowed", k_time, {{"file_list", *list}}));
  EXPECT_TRUE(log.verify().sound());
  const std::filesystem::path file = log.dir / "audit" / "files" / (*list + ".jsonl");
  const std::string text = test::read_file(file);
  EXPECT_EQ(text.find("secret_name"), std::string::npos);
  EXPECT_NE(text.find(sha256("print(1)\n").hex()), std::string::npos);
  test::write_file(file, text + " ");
  EXPECT_FALSE(log.verify().sound());
  std::filesystem::remove(file);
  EXPECT_FALSE(log.verify().sound());
}

TEST(AuditLog, SeveralProcessesMayAppend) {
  Log log;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      bool good = true;
      for (int i = 0; i < 10; ++i)
        good = good && log.log.append("host-added", k_time, {{"child", child}}).has_value();
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.verify().records, 40u);
}
} // namespace
} // namespace remotemac::policies
