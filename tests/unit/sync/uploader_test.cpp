#include "sync/uploader.h"

#include "tests/unit/sync/push_fixture.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace remotemac::sync {
namespace {

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

void expect_nothing_unapproved(const std::string& wire) {
  for (const char* canary : {"denied-canary-1", "denied-canary-2", "denied-canary-3", "local_notes", "patients", "secret.txt"})
    EXPECT_FALSE(has(wire, canary)) << canary << " was on the wire";
}

std::size_t chunk_count(const policies::ApprovedSet& approved) {
  std::set<Digest> out;
  for (const ManifestFile& file : approved.manifest().files) {
    for (const ChunkRef& chunk : file.chunks)
      out.insert(chunk.digest);
  }
  return out.size();
}

TEST(Uploader, SendsEveryApprovedByteOnce) {
  const PushProject project(k_large);
  const policies::ApprovedSet approved = project.judge();
  PushHost host;
  const Pushed pushed = push_to(host, approved);
  ASSERT_TRUE(pushed.report.has_value()) << pushed.report.error().chain();
  EXPECT_EQ(pushed.report->files, 3U);
  EXPECT_EQ(pushed.report->chunks_sent, host.chunks().size());
  EXPECT_EQ(pushed.report->content_bytes, approved.manifest().total_bytes());
  EXPECT_EQ(pushed.report->snapshot, approved.manifest().digest());
  EXPECT_EQ(sha256(host.manifest_text()), pushed.report->snapshot);
  EXPECT_EQ(host.commits(), 1);
  EXPECT_TRUE(has(pushed.wire, "approved-canary-1"));
  EXPECT_TRUE(has(pushed.wire, "approved-canary-2"));
  expect_nothing_unapproved(pushed.wire);
}

TEST(Uploader, ASecondPushSendsNoContent) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  PushHost host;
  ASSERT_TRUE(push_to(host, approved).report.has_value());
  const Pushed again = push_to(host, approved);
  ASSERT_TRUE(again.report.has_value()) << again.report.error().chain();
  EXPECT_EQ(again.report->chunks_sent, 0U);
  EXPECT_EQ(again.report->content_bytes, 0U);
  EXPECT_FALSE(has(again.wire, "approved-canary"));
}

// The line is cut at a call. Whatever was under way: an error that says where, nothing unapproved on the wire, no false success; and
// pushing again completes what was begun. False when the line was not used so often, so nothing was cut.
bool survives_cut(const policies::ApprovedSet& approved, std::size_t at) {
  SCOPED_TRACE("cut at call " + std::to_string(at));
  PushHost host;
  const Pushed cut = push_to(host, approved, {}, at);
  expect_nothing_unapproved(cut.wire);
  if (cut.report.has_value()) {
    EXPECT_FALSE(cut.line_failed) << "a broken line was taken for success";
    return false;
  }
  EXPECT_EQ(cut.report.error().code(), ErrorCode::connection) << cut.report.error().chain();
  EXPECT_TRUE(has(cut.report.error().chain(), "mini1")) << "the error does not say which host: " << cut.report.error().chain();
  const Pushed again = push_to(host, approved);
  EXPECT_TRUE(again.report.has_value()) << again.report.error().chain();
  EXPECT_EQ(host.chunks().size(), chunk_count(approved));
  return true;
}

TEST(Uploader, SurvivesACutAtEachCallOfTheLine) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  std::size_t at = 1;
  while (at < 500 && survives_cut(approved, at))
    ++at;
  EXPECT_GT(at, 8U) << "the sweep hit too little to mean anything";
  EXPECT_LT(at, 500U);
}

TEST(Uploader, SurvivesACutBetweenPacks) {
  const PushProject project(k_large);
  const policies::ApprovedSet approved = project.judge();
  std::size_t at = 8;
  while (at < 2000 && survives_cut(approved, at))
    at += 6;
  EXPECT_GT(at, 20U) << "the sweep hit too little to mean anything";
  EXPECT_LT(at, 2000U);
}

TEST(Uploader, AFileChangedAfterJudgingIsNotSent) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  test::write_file(project.dir / "src/train.py", "print('swapped-canary-1')\n"); // same length
  PushHost host;
  const Pushed pushed = push_to(host, approved);
  ASSERT_FALSE(pushed.report.has_value());
  EXPECT_EQ(pushed.report.error().code(), ErrorCode::changed) << pushed.report.error().chain();
  EXPECT_TRUE(has(pushed.report.error().chain(), "src/train.py")) << pushed.report.error().chain();
  EXPECT_FALSE(has(pushed.wire, "swapped-canary"));
  EXPECT_EQ(host.commits(), 0);
}

TEST(Uploader, AFileReplacedByALinkIsNotFollowed) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  std::filesystem::remove(project.dir / "src/train.py");
  std::filesystem::create_symlink(project.dir / "secret.txt", project.dir / "src/train.py");
  PushHost host;
  const Pushed pushed = push_to(host, approved);
  ASSERT_FALSE(pushed.report.has_value());
  EXPECT_EQ(pushed.report.error().code(), ErrorCode::changed) << pushed.report.error().chain();
  expect_nothing_unapproved(pushed.wire);
}

TEST(Uploader, AFileThatIsGoneIsNamed) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  std::filesystem::remove_all(project.dir / "src/model");
  PushHost host;
  const Pushed pushed = push_to(host, approved);
  ASSERT_FALSE(pushed.report.has_value());
  EXPECT_EQ(pushed.report.error().code(), ErrorCode::changed) << pushed.report.error().chain();
  EXPECT_TRUE(has(pushed.report.error().chain(), "src/model/net.py")) << pushed.report.error().chain();
  EXPECT_EQ(host.commits(), 0);
}

TEST(Uploader, NothingIsSentWithoutItsRecord) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  PushHost host;
  PushOptions options;
  options.before_first_byte = [] { return Result<void>(Error(ErrorCode::disk_full, "the audit log cannot be written")); };
  const Pushed pushed = push_to(host, approved, options);
  ASSERT_FALSE(pushed.report.has_value());
  EXPECT_EQ(pushed.report.error().code(), ErrorCode::disk_full);
  EXPECT_FALSE(has(pushed.wire, "snapshot.offer"));
  EXPECT_FALSE(has(pushed.wire, "train.py")) << "a name was sent";
  EXPECT_TRUE(host.manifest_text().empty());
}

TEST(Uploader, StopsWhenTold) {
  const PushProject project(k_large);
  const policies::ApprovedSet approved = project.judge();
  for (int allowed = 0; allowed < 3; ++allowed) {
    PushHost host;
    PushOptions options;
    int calls = 0;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_LE(done, total);
      return calls++ < allowed;
    };
    const Pushed pushed = push_to(host, approved, options);
    ASSERT_FALSE(pushed.report.has_value());
    EXPECT_EQ(pushed.report.error().code(), ErrorCode::interrupted) << pushed.report.error().chain();
    EXPECT_FALSE(pushed.report.error().hint().empty());
    EXPECT_EQ(host.commits(), 0);
  }
}

TEST(Uploader, AHostThatWantsMoreGetsNothing) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  for (const Lie lie : {Lie::wants_unoffered, Lie::wants_twice, Lie::present_and_wants}) {
    PushHost host(lie);
    const Pushed pushed = push_to(host, approved);
    ASSERT_FALSE(pushed.report.has_value());
    EXPECT_EQ(pushed.report.error().code(), ErrorCode::protocol) << pushed.report.error().chain();
    EXPECT_FALSE(has(pushed.wire, "approved-canary")) << "content was sent";
    EXPECT_TRUE(host.chunks().empty());
  }
}

TEST(Uploader, AHostThatCountsOrBuildsWrongIsNotBelieved) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  for (const Lie lie : {Lie::miscounts, Lie::builds_other}) {
    PushHost host(lie);
    const Pushed pushed = push_to(host, approved);
    ASSERT_FALSE(pushed.report.has_value());
    EXPECT_EQ(pushed.report.error().code(), ErrorCode::protocol) << pushed.report.error().chain();
  }
}

TEST(Uploader, TheDaemonsOwnErrorIsPassedOn) {
  const PushProject project;
  const policies::ApprovedSet approved = project.judge();
  PushHost host(Lie::refuses);
  const Pushed pushed = push_to(host, approved);
  ASSERT_FALSE(pushed.report.has_value());
  EXPECT_EQ(pushed.report.error().code(), ErrorCode::disk_full) << pushed.report.error().chain();
  EXPECT_TRUE(has(pushed.report.error().chain(), "no space left for the project")) << pushed.report.error().chain();
}

TEST(Uploader, AnEmptySetIsPushedAsAnEmptySnapshot) {
  PushHost host;
  const Pushed pushed = push_to(host, policies::ApprovedSet());
  ASSERT_TRUE(pushed.report.has_value()) << pushed.report.error().chain();
  EXPECT_EQ(pushed.report->files, 0U);
  EXPECT_EQ(pushed.report->chunks_sent, 0U);
}

} // namespace
} // namespace remotemac::sync
