// Jobs from submission to their outputs, through the real programs.
#include "tests/unit/daemon/daemon_fixture.h"

#include "common/json.h"

namespace remotemac::daemon {
namespace {
class JobRun : public DaemonFixture {};

TEST_F(JobRun, RunsAScriptAndKeepsWhatItLeft) {
  JobSpec spec = job_of("import os, sys\n"
                        "print('to stdout', sys.argv[1:])\n"
                        "print('to stderr', file=sys.stderr)\n"
                        "os.makedirs('made')\n"
                        "open('made/a.txt', 'w').write('kept')\n"
                        "open('b.txt', 'w').write('not asked for')\n");
  spec.steps[0].argv = {"script.py", "one", "two words"};
  spec.steps[0].outputs = {RelPath::create("made").value(), RelPath::create("never.txt").value()};
  const auto client = connect();
  const auto job = client->submit(spec);
  ASSERT_TRUE(job) << job.error().chain();
  const JobRecord record = wait_for_end(*client, *job);
  ASSERT_EQ(record.state, JobState::succeeded) << record.reason << "\n" << whole_log(*client, *job, "environment");
  EXPECT_EQ(record.steps[0].reason, "ok");
  EXPECT_EQ(record.steps[0].exit_code, 0);
  EXPECT_TRUE(record.environment);
  EXPECT_FALSE(record.network.empty());
  EXPECT_EQ(whole_log(*client, *job, "run.stdout"), "to stdout ['one', 'two words']\n");
  EXPECT_NE(whole_log(*client, *job, "run.stderr").find("to stderr\n"), std::string::npos);

  const std::vector<RelPath> names{RelPath::create("outputs/run/made/a.txt").value(), RelPath::create("outputs/run/b.txt").value(),
                                   RelPath::create("evidence/run.json").value(), RelPath::create("spec.json").value()};
  const auto files = client->stat(*job, names);
  ASSERT_TRUE(files) << files.error().chain();
  EXPECT_EQ((*files)[0].size_bytes, 4u);
  EXPECT_EQ((*files)[0].sha256, sha256(std::string_view("kept")));
  EXPECT_FALSE((*files)[1].missing.empty());
  EXPECT_TRUE((*files)[2].missing.empty());
  EXPECT_FALSE((*files)[3].missing.empty()) << "spec.json must not be fetchable";
  const auto part = client->fetch(*job, names[0], 1, 2);
  ASSERT_TRUE(part);
  EXPECT_EQ(std::string(part->bytes.begin(), part->bytes.end()), "ep");
  EXPECT_FALSE(part->end);
  EXPECT_FALSE(client->fetch(*job, names[3], 0, 10).has_value());
  EXPECT_FALSE(std::filesystem::exists(job_paths(*job).work())) << "the working copy must be gone";
}

TEST_F(JobRun, EventsComeNumberedWithoutGapsAndEndWithTheEnd) {
  const JobSpec spec = job_of("print('x')\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  std::vector<std::string> seen;
  std::uint64_t after = 0;
  JobState state = JobState::queued;
  const Deadline deadline(k_patience);
  while (!(is_final(state) && !seen.empty() && seen.back() == "finished") && !deadline.passed()) {
    const auto got = client->events(job, after, std::chrono::seconds(5));
    ASSERT_TRUE(got) << got.error().chain();
    for (const auto& event : got->events) {
      EXPECT_EQ(json_int(event, "seq"), static_cast<std::int64_t>(seen.size()) + 1);
      seen.push_back(json_text(event, "event"));
    }
    after = got->last_seq;
    state = got->state;
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"queued", "preparing", "environment-ready", "step-started", "step-finished", "finished"}));
}

TEST_F(JobRun, LogsGiveEachByteOnceWhateverThePieces) {
  const JobSpec spec = job_of("import sys, hashlib\n"
                              "data = bytes(range(256)) * 400\n"
                              "for i in range(0, len(data), 1013):\n"
                              "    sys.stdout.buffer.write(data[i:i+1013]); sys.stdout.buffer.flush()\n");
  std::string wanted;
  for (int i = 0; i < 256 * 400; ++i)
    wanted.push_back(static_cast<char>(static_cast<std::uint8_t>(i % 256)));
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  EXPECT_EQ(whole_log(*client, job, "run.stdout", 777), wanted); // followed while it runs
  EXPECT_EQ(whole_log(*client, job, "run.stdout", 64 * 1024), wanted);
  const auto beyond = client->log(job, "run.stdout", wanted.size() + 5, 100, std::chrono::milliseconds(0));
  ASSERT_TRUE(beyond);
  EXPECT_TRUE(beyond->bytes.empty());
  EXPECT_TRUE(beyond->end);
  EXPECT_FALSE(client->log(job, "../spec", 0, 100, std::chrono::milliseconds(0)).has_value());
}

TEST_F(JobRun, AScriptThatFailsIsAResult) {
  const JobSpec spec = job_of("import sys\nsys.exit(3)\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.state, JobState::succeeded) << record.reason;
  EXPECT_EQ(record.steps[0].reason, "exit");
  EXPECT_EQ(record.steps[0].exit_code, 3);
}

TEST_F(JobRun, DeathBySignalIsReportedAsSuch) {
  const JobSpec spec = job_of("import os, signal, sys\nprint('before'); sys.stdout.flush()\nos.kill(os.getpid(), signal.SIGSEGV)\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  EXPECT_EQ(record.steps[0].reason, "signal");
  EXPECT_EQ(record.steps[0].signal, 11);
  EXPECT_FALSE(record.steps[0].exit_code);
  EXPECT_EQ(whole_log(*client, job, "run.stdout"), "before\n");
}

TEST_F(JobRun, AJobReachesNoNetworkNotEvenThisMachine) {
  // A listener of ours on loopback: what an unguarded process reaches.
  const JobSpec spec = job_of("import socket\n"
                              "try:\n"
                              "    a = socket.socket(); a.settimeout(5); a.bind(('127.0.0.1', 0)); a.listen()\n"
                              "    b = socket.create_connection(a.getsockname(), 5)\n"
                              "    print('REACHED')\n"
                              "except OSError as error:\n"
                              "    print('cut off')\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  if (record.network == "none")
    GTEST_SKIP() << "this machine offers no way to cut a process off the network";
  EXPECT_EQ(whole_log(*client, job, "run.stdout"), "cut off\n") << "guard: " << record.network;
}

TEST_F(JobRun, NothingOfAJobStaysBehind) {
  const JobSpec spec = job_of("import os, time\n"
                              "pid = os.fork()\n"
                              "if pid == 0:\n"
                              "    os.setsid()\n"
                              "    if os.fork() != 0: os._exit(0)\n"
                              "    open('pid.txt', 'w').write(str(os.getpid()))\n"
                              "    os.rename('pid.txt', 'pid')\n"
                              "    time.sleep(600)\n"
                              "    os._exit(0)\n"
                              "end = time.time() + 30\n"
                              "while not os.path.exists('pid') and time.time() < end: time.sleep(0.01)\n"
                              "print('daemon', open('pid').read())\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  const JobRecord record = wait_for_end(*client, job);
  ASSERT_EQ(record.steps[0].reason, "ok");
  const std::string out = whole_log(*client, job, "run.stdout");
  ASSERT_TRUE(out.starts_with("daemon "));
  // Its id may be one of a namespace; the tag in the environment finds it whatever it is called.
  EXPECT_TRUE(record.state == JobState::succeeded);
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::error_code ignored;
    const auto file = process.path() / "environ";
    if (!std::filesystem::exists(file, ignored))
      continue;
    FILE* stream = std::fopen(file.c_str(), "r");
    if (stream == nullptr)
      continue;
    std::string text(65536, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), stream));
    std::fclose(stream);
    EXPECT_EQ(text.find("REMOTEMAC_JOB=" + job), std::string::npos) << process.path();
  }
}

TEST_F(JobRun, ForgettingDeletesTheJobAndItsSnapshot) {
  const JobSpec spec = job_of("print('x')\n");
  const auto client = connect();
  const std::string job = client->submit(spec).value();
  (void)wait_for_end(*client, job);
  ASSERT_TRUE(eventually([&] { return client->forget(job).has_value(); }));
  EXPECT_FALSE(std::filesystem::exists(job_paths(job).root));
  EXPECT_FALSE(std::filesystem::exists(state() / "snapshots" / spec.snapshot.hex()));
  EXPECT_TRUE(client->list().value().empty());
  const auto gone = client->status(job);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), ErrorCode::no_job);
  const auto again = client->submit(spec);
  ASSERT_FALSE(again) << "the snapshot is gone with its last job";
  EXPECT_EQ(again.error().code(), ErrorCode::remote_refused);
}
} // namespace
} // namespace remotemac::daemon
