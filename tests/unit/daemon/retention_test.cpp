#include "daemon/retention.h"

#include "tests/unit/daemon/store_fixture.h"

namespace remotemac::daemon {
namespace {
using namespace std::chrono_literals;
class RetentionTest : public StoreFixture {
protected:
  std::string finished_job(const Digest& snapshot, std::uint64_t keep_s) {
    JobSpec spec = spec_of(snapshot);
    spec.keep_s = keep_s;
    const std::string id = m_jobs.create(spec).value();
    EXPECT_TRUE(m_jobs.finish(m_jobs.record(id).value(), JobState::succeeded, "").has_value());
    return id;
  }
  JobSweep sweep() {
    const JobSweep jobs = sweep_jobs(m_disk, m_jobs, m_clock.now()).value();
    const auto expired = expired_snapshots(m_snapshots, jobs, m_clock.now(), k_grace).value();
    std::unordered_set<Digest> doomed;
    for (const Digest& each : expired)
      EXPECT_TRUE(remove_expired(m_snapshots, each, doomed).has_value());
    UselessChunks useless = find_useless(m_snapshots, m_blobs, doomed, m_clock.now(), k_grace).value();
    while (!useless.chunks.empty()) {
      const auto removed = remove_useless(m_snapshots, m_blobs, useless, 1);
      EXPECT_TRUE(removed.has_value());
      if (!removed)
        break;
    }
    return jobs;
  }
  [[nodiscard]] bool has_blob(std::string_view content) const { return m_blobs.has(sha256(content), content.size()); }
  static constexpr std::chrono::seconds k_grace{24h};
};

TEST_F(RetentionTest, AnExpiredJobGoesWithItsSnapshotAndChunks) {
  const Digest snapshot = commit({{"a", "only here"}, {"b", "shared"}});
  const Digest other = commit({{"b", "shared"}});
  const std::string job = finished_job(snapshot, 100);
  const std::string stays = finished_job(other, 100'000);
  m_clock.advance(99s);
  EXPECT_TRUE(sweep().removed.empty());
  m_clock.advance(2s);
  const JobSweep swept = sweep();
  EXPECT_EQ(swept.removed, std::vector<std::string>{job});
  EXPECT_EQ(swept.remaining, 1u);
  EXPECT_TRUE(swept.next_expiry);
  EXPECT_FALSE(m_snapshots.has(snapshot));
  EXPECT_FALSE(has_blob("only here"));
  EXPECT_TRUE(m_snapshots.has(other));
  EXPECT_TRUE(has_blob("shared"));
  EXPECT_TRUE(m_jobs.exists(stays));
}

TEST_F(RetentionTest, AJobThatHasNotEndedNeverExpires) {
  const Digest snapshot = commit({{"a", "x"}});
  JobSpec spec = spec_of(snapshot);
  spec.keep_s = 1;
  const std::string id = m_jobs.create(spec).value();
  m_clock.advance(std::chrono::hours(24 * 365));
  EXPECT_TRUE(sweep().removed.empty());
  EXPECT_TRUE(m_jobs.exists(id));
  EXPECT_TRUE(m_snapshots.has(snapshot));
}

TEST_F(RetentionTest, WhatNobodyUsesStaysForItsGraceOnly) {
  const Digest snapshot = commit({{"a", "x"}});
  ASSERT_TRUE(store({{"b", "half a push"}}));
  (void)sweep();
  EXPECT_TRUE(m_snapshots.has(snapshot));
  EXPECT_TRUE(has_blob("half a push"));
  m_clock.advance(k_grace + 10s);
  (void)sweep();
  EXPECT_FALSE(m_snapshots.has(snapshot));
  EXPECT_FALSE(has_blob("half a push"));
  EXPECT_FALSE(has_blob("x"));
}

TEST_F(RetentionTest, AnOfferKeepsItsChunks) {
  ASSERT_TRUE(store({{"b", "on offer"}}));
  const auto offer = std::make_shared<const Manifest>(manifest_of({{"b", "on offer"}}));
  m_snapshots.pin(offer);
  m_clock.advance(k_grace + 10s);
  (void)sweep();
  EXPECT_TRUE(has_blob("on offer"));
}

TEST_F(RetentionTest, AnOfferMadeWhileOldChunksAreRemovedKeepsItsOwn) {
  ASSERT_TRUE(store({{"a", "old 1"}, {"b", "old 2"}, {"c", "old 3"}}));
  m_clock.advance(k_grace + 10s);
  UselessChunks useless = find_useless(m_snapshots, m_blobs, {}, m_clock.now(), k_grace).value();
  ASSERT_EQ(useless.chunks.size(), 3u);
  EXPECT_EQ(remove_useless(m_snapshots, m_blobs, useless, 1).value(), 1u);
  const std::string wanted = has_blob("old 2") ? "old 2" : "old 3";
  const auto offer = std::make_shared<const Manifest>(manifest_of({{"b", wanted}}));
  m_snapshots.pin(offer);
  ASSERT_TRUE(m_snapshots.missing(*offer).empty()) << "the client was told that the host has it";
  EXPECT_EQ(remove_useless(m_snapshots, m_blobs, useless, 10).value(), 1u);
  EXPECT_TRUE(has_blob(wanted));
}

TEST_F(RetentionTest, UnusedAndHalfMadeEnvironmentsGo) {
  for (const char* each : {"used", "unused"})
    test::write_file(m_dir.path() / "envs" / each / "remotemac-environment.json", "{}");
  test::write_file(m_dir / "envs/used.used", "");
  std::filesystem::create_directory(m_dir.path() / "envs" / "half");
  EXPECT_EQ(sweep_environments(m_disk, m_dir / "envs", m_clock.now(), 1h).value(), 2u);
  EXPECT_TRUE(std::filesystem::exists(m_dir / "envs/used"));
  m_clock.advance(2h);
  EXPECT_EQ(sweep_environments(m_disk, m_dir / "envs", m_clock.now(), 1h).value(), 1u);
}

TEST(ParseTime, OnlyTheFormThatIsWritten) {
  const auto time = parse_time("2024-02-29T12:34:56.789Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(expiry(*time, 1), "2024-02-29T12:34:57.789Z");
  for (const char* bad : {"", "2024-02-29", "2024-02-29T12:34:56Z", "2024-02-29T12:34:56.789", "tomorrow"})
    EXPECT_FALSE(parse_time(bad)) << bad;
}
} // namespace
} // namespace remotemac::daemon
