// How jobs are made to end: cancellation and limits.
#include "tests/unit/daemon/daemon_fixture.h"

namespace remotemac::daemon {
namespace {
class JobLimitsTest : public DaemonFixture {};

TEST_F(JobLimitsTest, CancelAsksPolitelyFirst) {
  const JobSpec spec = job_of("import time, sys\n"
                              "print('started'); sys.stdout.flush()\n"
                              "try:\n"
                              "    time.sleep(600)\n"
                              "except KeyboardInterrupt:\n"
                              "    print('asked to end')\n"
                              "    sys.exit(0)\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  wait_for_output(*client, job, "started");
  const auto state_then = client->cancel(job);
  ASSERT_TRUE(state_then) << state_then.error().chain();
  EXPECT_EQ(*state_then, "running");
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::cancelled);
  EXPECT_EQ(record.steps[0].reason, "cancelled");
  EXPECT_EQ(whole_log(*client, job, "run.stdout"), "started\nasked to end\n");
  EXPECT_EQ(client->cancel(job).value(), "cancelled") << "cancelling what has ended changes nothing";
}

TEST_F(JobLimitsTest, AJobThatListensToNobodyIsKilled) {
  const JobSpec spec = job_of("import signal, sys, time\n"
                              "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
                              "    signal.signal(number, lambda *ignored: (print('no', ignored[0]), sys.stdout.flush()))\n"
                              "print('started'); sys.stdout.flush()\n"
                              "end = time.time() + 600\n"
                              "while time.time() < end: time.sleep(1)\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  wait_for_output(*client, job, "started");
  ASSERT_TRUE(client->cancel(job));
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::cancelled);
  EXPECT_EQ(record.steps[0].signal, 9);
  EXPECT_EQ(whole_log(*client, job, "run.stdout"), "started\nno 2\nno 15\n");
}

TEST_F(JobLimitsTest, AWaitingJobIsCancelledAtOnce) {
  const JobSpec slow = job_of("import time\nprint('started', flush=True)\ntime.sleep(600)\n");
  const auto client = connect();
  const std::string first = client->submit(slow).value();
  wait_for_output(*client, first, "started");
  const std::string second = client->submit(slow).value();
  const JobRecord waiting = client->status(second).value();
  EXPECT_EQ(waiting.state, JobState::queued);
  EXPECT_FALSE(waiting.reason.empty()) << "a person must learn why it waits";
  EXPECT_FALSE(client->forget(second).has_value()) << "only finished jobs can be forgotten";
  EXPECT_EQ(client->cancel(second).value(), "cancelled");
  EXPECT_EQ(client->status(first).value().state, JobState::running);
}

TEST_F(JobLimitsTest, TheStepLimitEndsTheStepAndTheNextOneRuns) {
  JobSpec spec = job_of("import sys, time\nif sys.argv[1:] == ['slow']: time.sleep(600)\nprint('quick')\n");
  spec.limits.step_wall_s = 2;
  spec.steps.push_back(spec.steps[0]);
  spec.steps[0].argv.emplace_back("slow");
  spec.steps[1].name = "second";
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::failed);
  EXPECT_EQ(record.steps[0].reason, "wall-time");
  EXPECT_EQ(record.steps[1].reason, "ok");
  EXPECT_NE(record.reason.find("run"), std::string::npos) << record.reason;
}

TEST_F(JobLimitsTest, TheJobLimitEndsTheJob) {
  JobSpec spec = job_of("import time\ntime.sleep(600)\n");
  spec.limits.wall_s = 2;
  spec.steps.push_back(spec.steps[0]);
  spec.steps[1].name = "second";
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::timed_out) << record.reason;
  EXPECT_EQ(record.steps[1].state, "pending");
}

TEST_F(JobLimitsTest, AFloodOfNoiseIsCutMarkedAndCounted) {
  JobSpec spec = job_of("import os, sys, random\n"
                        "noise = random.Random(1).randbytes(65536)\n"
                        "for i in range(160): sys.stdout.buffer.write(noise)\n"
                        "sys.stdout.flush()\n");
  spec.limits.log_bytes = 100'000;
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.steps[0].reason, "ok") << "a full log must not stop a job";
  const std::string log = whole_log(*client, job, "run.stdout", 50'000);
  EXPECT_EQ(record.steps[0].stdout_bytes, log.size());
  EXPECT_EQ(record.steps[0].dropped_bytes, 160u * 65536u - 100'000u);
  const std::size_t marker = log.find("\n[remotemac: this stream passed its limit");
  EXPECT_EQ(marker, 100'000u);
}

TEST_F(JobLimitsTest, TooMuchOnTheDiskEndsTheStep) {
  JobSpec spec = job_of("import time\nwith open('big', 'wb') as f:\n    for i in range(40):\n        f.write(bytes([i + 1]) * 1048576); f.flush()\ntime.sleep(600)\n");
  spec.limits.disk_bytes = 5 << 20;
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::failed);
  EXPECT_EQ(record.steps[0].reason, "disk-limit");
  EXPECT_FALSE(std::filesystem::exists(job_paths(job).work() / "run"));
}

TEST_F(JobLimitsTest, OutputsOverTheirLimitAreLeftBehindAndSaid) {
  JobSpec spec = job_of("open('big', 'wb').write(b'x' * 5000)\nopen('small', 'wb').write(b'y' * 10)\n");
  spec.steps[0].outputs = {RelPath::create("small").value(), RelPath::create("big").value()};
  spec.limits.output_bytes = 1000;
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::failed);
  EXPECT_EQ(record.steps[0].reason, "output-limit");
  EXPECT_TRUE(std::filesystem::exists(job_paths(job).outputs() / "run" / "small"));
  EXPECT_FALSE(std::filesystem::exists(job_paths(job).outputs() / "run" / "big"));
}
} // namespace
} // namespace remotemac::daemon
