// The daemon dies, the jobs live: what a new daemon finds.
#include "tests/unit/daemon/daemon_fixture.h"

#include "daemon/file_lock.h"

#include <csignal>

namespace remotemac::daemon {
namespace {
class Restart : public DaemonFixture {};
constexpr const char* k_until_told = "import os, time\nprint('started', flush=True)\n"
                                     "end = time.time() + 60\n"
                                     "while not os.path.exists('go') and time.time() < end: time.sleep(0.02)\n"
                                     "print('went on')\n";

TEST_F(Restart, AJobSurvivesTheDeathOfTheDaemon) {
  const JobSpec spec = job_of(k_until_told);
  auto client = connect();
  const std::string job = client->submit(spec).value();
  wait_for_output(*client, job, "started");
  const pid_t before = daemon_pid().value();
  kill_daemon();
  EXPECT_FALSE(client->status(job).has_value()) << "the old connection is dead";
  client = connect();
  EXPECT_NE(daemon_pid().value(), before);
  EXPECT_EQ(client->status(job).value().state, JobState::running);
  test::write_file(job_paths(job).work() / "run" / "go", "");
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::succeeded) << record.reason;
  EXPECT_EQ(whole_log(*client, job, "run.stdout"), "started\nwent on\n");
}

TEST_F(Restart, AJobThatEndedMeanwhileIsReportedAndTheNextOneStarts) {
  const JobSpec spec = job_of(k_until_told);
  auto client = connect();
  const std::string job = client->submit(spec).value();
  const std::string next = client->submit(job_of("print('second')\n")).value();
  wait_for_output(*client, job, "started");
  kill_daemon();
  test::write_file(job_paths(job).work() / "run" / "go", "");
  ASSERT_TRUE(eventually([&] { return !FileLock::holder(job_paths(job).shim_lock()); }));
  client = connect();
  EXPECT_EQ(client->status(job).value().state, JobState::succeeded);
  EXPECT_EQ(wait_for_end(*client, next).state, JobState::succeeded);
}

TEST_F(Restart, AJobWhoseShimWasKilledIsLostAndNothingOfItRunsOn) {
  const JobSpec spec = job_of(k_until_told);
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  wait_for_output(*client, job, "started");
  const auto shim = FileLock::holder(job_paths(job).shim_lock());
  ASSERT_TRUE(shim);
  ::kill(*shim, SIGKILL);
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::lost);
  EXPECT_NE(record.reason.find("shim"), std::string::npos);
  EXPECT_EQ(wait_for_end(*client, client->submit(job_of("print('after')\n")).value()).state, JobState::succeeded);
}

TEST_F(Restart, ASubmissionWhoseAnswerWasLostIsFoundAgainByItsKey) {
  JobSpec spec = job_of("print('once')\n");
  spec.submit_key = std::string(32, 'e');
  RawClient raw(state(), true);
  raw.request("job.submit", {{"spec", to_json(spec)}});
  const std::filesystem::path folder = job_paths(job_id_of_key(spec.submit_key)).root;
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder); }));
  kill_daemon(); // the answer may or may not have been written; nobody has read it
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  EXPECT_EQ(folder.filename(), job);
  EXPECT_EQ(client->list().value().size(), 1u);
  EXPECT_EQ(wait_for_end(*client, job).state, JobState::succeeded);
  EXPECT_EQ(whole_log(*client, job, "run.stdout"), "once\n");
}

TEST_F(Restart, CancelWorksAcrossARestart) {
  const JobSpec spec = job_of("import time\nprint('started', flush=True)\ntime.sleep(600)\n");
  auto client = connect();
  const std::string job = client->submit(spec).value();
  wait_for_output(*client, job, "started");
  kill_daemon();
  client = connect();
  ASSERT_TRUE(client->cancel(job));
  EXPECT_EQ(wait_for_end(*client, job).state, JobState::cancelled);
}

TEST_F(Restart, StopEndsTheDaemonAndNotTheJob) {
  const JobSpec spec = job_of(k_until_told);
  auto client = connect();
  const std::string job = client->submit(spec).value();
  wait_for_output(*client, job, "started");
  ASSERT_TRUE(client->stop());
  ASSERT_TRUE(eventually([&] { return !daemon_pid(); }));
  EXPECT_TRUE(FileLock::holder(job_paths(job).shim_lock()));
  test::write_file(job_paths(job).work() / "run" / "go", "");
  client = connect();
  EXPECT_EQ(wait_for_end(*client, job).state, JobState::succeeded);
}
} // namespace
} // namespace remotemac::daemon
