#include "tests/unit/daemon/store_fixture.h"

#include "daemon/event_log.h"
#include "daemon/job_reader.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
class JobStoreTest : public StoreFixture {
protected:
  std::string create() { return m_jobs.create(spec_of(Digest())).value(); }
};

TEST_F(JobStoreTest, ANewJobIsQueuedAndComplete) {
  const std::string id = create();
  EXPECT_TRUE(is_job_id(id));
  const JobRecord record = m_jobs.record(id).value();
  EXPECT_EQ(record.state, JobState::queued);
  EXPECT_EQ(record.steps.size(), 1u);
  EXPECT_EQ(record.boot_id, "boot-1");
  EXPECT_EQ(load_spec(m_disk, m_jobs.paths(id)).value().project, "example");
  EXPECT_EQ(read_events(m_disk, m_jobs.paths(id).events(), 0).value().size(), 1u);
}

TEST_F(JobStoreTest, NamesThatAreNoIdsReachNothing) {
  test::write_file(m_dir / "secret/record.json", "{}");
  for (const char* id : {"", ".", "..", "../secret", "/etc", "jAAAAAAAAAAAA", "jaaaaaaaaaaaa"})
    EXPECT_EQ(m_jobs.find(id).error().code(), ErrorCode::no_job) << id;
}

TEST_F(JobStoreTest, AnUnreadableRecordIsShownAsLostWithTheReason) {
  const std::string good = create();
  const std::string bad = create();
  test::write_file(m_jobs.paths(bad).record(), "{ torn");
  const auto list = m_jobs.list().value();
  ASSERT_EQ(list.size(), 2u);
  for (const JobRecord& each : list) {
    EXPECT_EQ(each.state, each.job == bad ? JobState::lost : JobState::queued);
    EXPECT_EQ(each.reason.empty(), each.job != bad);
  }
}

TEST_F(JobStoreTest, FinishWritesEventAndRecordAndExpiryFromNow) {
  const std::string id = create();
  JobRecord record = m_jobs.record(id).value();
  record.steps[0].state = "running";
  m_clock.advance(std::chrono::hours(5));
  ASSERT_TRUE(m_jobs.finish(record, JobState::lost, "why"));
  const JobRecord after = m_jobs.record(id).value();
  EXPECT_EQ(after.state, JobState::lost);
  EXPECT_EQ(after.steps[0].state, "done");
  EXPECT_EQ(after.expires, expiry(m_clock.now(), JobSpec().keep_s));
  EXPECT_EQ(read_events(m_disk, m_jobs.paths(id).events(), 1).value().back().at("event"), "finished");
}

TEST_F(JobStoreTest, RemoveAndCleanUpLeaveNothingHalf) {
  const std::string id = create();
  const std::string other = create();
  ASSERT_TRUE(m_jobs.discard(id));
  EXPECT_EQ(m_jobs.record(id).error().code(), ErrorCode::no_job);
  std::filesystem::create_directories(m_dir.path() / "jobs" / ".jhalfmade" / "logs");
  ASSERT_TRUE(m_jobs.clean_up());
  const auto discarded = m_jobs.discarded().value();
  ASSERT_EQ(discarded.size(), 1u) << "a start does not wait for the deletion of something large";
  ASSERT_TRUE(m_disk.remove_tree(discarded[0]));
  std::vector<std::string> left;
  for (const auto found = m_disk.list(m_dir / "jobs").value(); const DirEntry& each : found)
    left.push_back(each.name);
  EXPECT_EQ(left, std::vector<std::string>{other});
}

TEST_F(JobStoreTest, TheSameSubmitKeyIsTheSameJobAndSurvivesARestart) {
  JobSpec spec = spec_of(Digest());
  EXPECT_FALSE(m_jobs.submitted_before(spec).value()) << "without a key every submission is a job of its own";
  spec.submit_key = std::string(32, 'a');
  EXPECT_FALSE(m_jobs.submitted_before(spec).value());
  const std::string id = m_jobs.create(spec).value();
  EXPECT_EQ(m_jobs.submitted_before(spec).value(), id);
  JobStore restarted(m_disk, m_clock, m_dir / "jobs", "boot-2");
  EXPECT_EQ(restarted.submitted_before(spec).value(), id);
  JobSpec other = spec;
  other.project = "another";
  EXPECT_EQ(m_jobs.submitted_before(other).error().code(), ErrorCode::remote_refused);
  other.submit_key = std::string(32, 'b');
  EXPECT_FALSE(m_jobs.submitted_before(other).value());
  ASSERT_TRUE(m_jobs.discard(id));
  EXPECT_EQ(m_jobs.create(spec).value(), id) << "after the job was forgotten the key is free again";
}

TEST_F(JobStoreTest, ASubmitKeyThatIsNoneIsRefused) {
  nlohmann::json spec = to_json(spec_of(Digest()));
  EXPECT_FALSE(spec.contains("submit_key")) << "an older daemon sees what it always saw";
  for (const std::string& key : {std::string("x"), std::string(32, 'A'), std::string(33, 'a'), std::string("../../../../../../../../../../../")}) {
    spec["submit_key"] = key;
    EXPECT_FALSE(job_spec_from_json(spec).has_value()) << key;
  }
  spec["submit_key"] = std::string(32, 'a');
  EXPECT_EQ(to_json(job_spec_from_json(spec).value()), spec);
}

TEST_F(JobStoreTest, NothingOutsideTheOfferIsRead) {
  const std::string id = create();
  const JobPaths paths = m_jobs.paths(id);
  test::write_file(m_dir / "outside.txt", "secret");
  test::write_file(paths.outputs() / "run" / "a.txt", "kept");
  std::filesystem::create_symlink(m_dir / "outside.txt", paths.outputs() / "run" / "link");
  std::filesystem::create_directory_symlink(m_dir.path(), paths.outputs() / "folder");
  EXPECT_EQ(fetch_file(m_jobs, id, "outputs/run/a.txt", 0, 100).value().bytes, "kept");
  EXPECT_TRUE(fetch_file(m_jobs, id, "outputs/run/a.txt", 1, 3).value().end) << "asked for exactly the rest";
  EXPECT_FALSE(fetch_file(m_jobs, id, "outputs/run/a.txt", 0, 3).value().end);
  for (const char* name : {"outputs/run/link", "outputs/folder/outside.txt", "spec.json", "outputs/../spec.json", "../../outside.txt", "outputs", "outputs/run", "/etc/passwd", "shim.log"}) {
    EXPECT_FALSE(fetch_file(m_jobs, id, name, 0, 100).has_value()) << name;
    EXPECT_FALSE(stat_files(m_jobs, id, {name}).value().at(0).missing.empty()) << name;
  }
}
} // namespace
} // namespace remotemac::daemon
