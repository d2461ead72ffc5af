#include "daemon/worker/journal.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

Finding finding(std::string id, Status status = Status::not_tested) {
  Finding result;
  result.id = std::move(id);
  result.status = status;
  return result;
}

class JournalTest : public testing::Test {
protected:
  JournalWriter open() {
    auto writer = JournalWriter::open(m_file);
    EXPECT_TRUE(writer) << writer.error().chain();
    return std::move(*writer);
  }
  Journal read() {
    auto journal = read_journal(m_file);
    EXPECT_TRUE(journal) << journal.error().chain();
    return std::move(*journal);
  }
  test::TempDir m_folder;
  std::filesystem::path m_file = m_folder / "journal";
};

TEST_F(JournalTest, AMissingFileIsAnEmptyJournal) {
  EXPECT_TRUE(read().entries.empty());
  EXPECT_FALSE(read().session);
  EXPECT_EQ(read().in_flight(), nullptr);
}

TEST_F(JournalTest, TheCaseInHandIsKnownBeforeItEnds) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.session({"2.15.0", "2.15.0+cpu", true, "why"}));
  ASSERT_TRUE(writer.begin(0, finding("a")));
  ASSERT_TRUE(writer.stage("device"));
  ASSERT_NE(read().in_flight(), nullptr);
  EXPECT_EQ(read().in_flight()->stage, "device");
  ASSERT_TRUE(writer.end(0, finding("a", Status::pass)));
  EXPECT_EQ(read().in_flight(), nullptr);
  ASSERT_TRUE(writer.begin(1, finding("b")));
  const Journal journal = read();
  ASSERT_EQ(journal.entries.size(), 2U);
  EXPECT_EQ(journal.entries[0].finding.status, Status::pass);
  EXPECT_EQ(journal.in_flight()->index, 1U);
  ASSERT_TRUE(journal.session);
  EXPECT_TRUE(journal.session->simulated);
  EXPECT_EQ(journal.session->simulated_reason, "why");
  EXPECT_EQ(journal.session->running, "2.15.0+cpu");
}

TEST_F(JournalTest, ATornLineIsIgnoredAndNotJoinedToTheNext) {
  { ASSERT_TRUE(open().begin(0, finding("a"))); }
  test::write_file(m_file, test::read_file(m_file) + R"({"end": 0, "find)");
  ASSERT_NE(read().in_flight(), nullptr);
  { ASSERT_TRUE(open().begin(1, finding("b"))); }
  const Journal journal = read();
  ASSERT_EQ(journal.entries.size(), 2U);
  EXPECT_FALSE(journal.entries[0].ended);
  EXPECT_EQ(journal.in_flight()->index, 1U);
}

TEST(ParseJournal, LinesThatFitNothingAreSkipped) {
  const Journal journal = parse_journal("[]\n7\n{\"stage\": \"x\"}\n{\"end\": 0, \"finding\": {\"status\": \"pass\"}}\n{\"begin\": 0, \"finding\": {\"status\": \"?\"}}\n"
                                        "{\"begin\": 3, \"finding\": {\"status\": \"pass\"}}\n{\"end\": 4, \"finding\": {\"status\": \"fail\"}}\n");
  ASSERT_EQ(journal.entries.size(), 1U);
  EXPECT_EQ(journal.entries[0].index, 3U);
  EXPECT_FALSE(journal.entries[0].ended) << "the end of another case";
}

} // namespace
} // namespace remotemac::worker
