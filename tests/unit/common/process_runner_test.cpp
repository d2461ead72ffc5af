#include "common/process_runner.h"

#include "common/byte_stream.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <csignal>
#include <poll.h>

namespace remotemac {
namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.deadline = std::chrono::seconds(30);
  return spec;
}

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

// True when the condition came true before the limit.
template <typename Condition> bool wait_until(Condition condition) {
  const Deadline deadline(std::chrono::seconds(20));
  while (!condition()) {
    if (deadline.passed())
      return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

TEST(ProcessRunner, GivesBothStreamsAndTheStatus) {
  const auto result = PosixProcessRunner().run(shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(result.has_value()) << result.error().chain();
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit_code, 7);
  EXPECT_EQ(result->signal, 0);
  EXPECT_FALSE(result->truncated);
}

TEST(ProcessRunner, ASignalIsNotAnExit) {
  const auto result = PosixProcessRunner().run(shell("kill -TERM $$"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->exit_code, -1);
  EXPECT_EQ(result->signal, SIGTERM);
}

TEST(ProcessRunner, AMissingProgramIsAnErrorThatNamesIt) {
  ProcessSpec spec;
  spec.argv = {"no-such-program-here"};
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::process);
  EXPECT_NE(result.error().chain().find("no-such-program-here"), std::string::npos);
  EXPECT_FALSE(PosixProcessRunner().run(ProcessSpec{}).has_value());
}

TEST(ProcessRunner, FeedsMuchInputWhileItReadsMuchOutput) {
  ProcessSpec spec = shell("cat; cat >&2 </dev/null");
  for (int i = 0; spec.input.size() < 3'000'000; ++i)
    spec.input += std::to_string(i) + "\n";
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_TRUE(result.has_value()) << result.error().chain();
  EXPECT_TRUE(result->out == spec.input);
}

TEST(ProcessRunner, InputThatNobodyReadsIsNoProblem) {
  ::signal(SIGPIPE, SIG_IGN);
  ProcessSpec spec = shell("exec <&-; echo done");
  spec.input = std::string(1'000'000, 'x');
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_TRUE(result.has_value()) << result.error().chain();
  EXPECT_EQ(result->out, "done\n");
}

TEST(ProcessRunner, OutputOverTheCapIsDrainedAndDropped) {
  ProcessSpec spec = shell("head -c 1000000 /dev/zero; echo end >&2; exit 3");
  spec.max_output_bytes = 1000;
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_TRUE(result.has_value()) << result.error().chain();
  EXPECT_EQ(result->out.size(), 1000U);
  EXPECT_EQ(result->err, "end\n");
  EXPECT_TRUE(result->truncated);
  EXPECT_EQ(result->exit_code, 3);
}

TEST(ProcessRunner, TheDeadlineKillsTheWholeGroup) {
  const test::TempDir dir;
  ProcessSpec spec = shell("sleep 600 & echo $! > pid; wait");
  spec.folder = dir.path();
  spec.deadline = std::chrono::milliseconds(1500);
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::deadline);
  EXPECT_NE(result.error().chain().find("running 'sh'"), std::string::npos);
  const pid_t grandchild = static_cast<pid_t>(std::stol(test::read_file(dir / "pid")));
  // Killed; whoever adopted it may not have collected it yet, so a zombie counts as ended.
  EXPECT_TRUE(wait_until([&] {
    if (!is_alive(grandchild))
      return true;
    const std::string stat = test::read_file("/proc/" + std::to_string(grandchild) + "/stat");
    return stat.find(") Z") != std::string::npos;
  }));
}

TEST(ProcessRunner, ADeadlineAlsoHoldsWhenOutputIsClosed) {
  ProcessSpec spec = shell("exec >&- 2>&-; sleep 600");
  spec.deadline = std::chrono::milliseconds(300);
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::deadline);
}

TEST(ProcessRunner, FolderAndEnvironmentAreTheGivenOnes) {
  const test::TempDir dir;
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", "pwd; echo \"$ONE,${HOME-unset}\""};
  spec.folder = dir.path();
  spec.environment = std::map<std::string, std::string>{{"ONE", "1 2"}};
  const auto result = PosixProcessRunner().run(spec);
  ASSERT_TRUE(result.has_value()) << result.error().chain();
  EXPECT_EQ(result->out, std::filesystem::canonical(dir.path()).string() + "\n1 2,unset\n");
}

TEST(ProcessRunner, TheChildHasDefaultSignalsWhateverWeIgnore) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto result = PosixProcessRunner().run(shell("kill -PIPE $$; echo survived"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->signal, SIGPIPE);
}

TEST(SpawnStream, TalksBothWaysAndKeepsTheErrorChannel) {
  auto stream = spawn_stream({"sh", "-c", "read line; echo \"got $line\"; printf 'note\\033\\n' >&2"});
  ASSERT_TRUE(stream.has_value()) << stream.error().chain();
  const std::string line = "hello\n";
  const Deadline deadline(std::chrono::seconds(20));
  ASSERT_TRUE((*stream)->write_all(std::span(reinterpret_cast<const std::uint8_t*>(line.data()), line.size()), deadline).has_value());
  std::vector<std::uint8_t> got(10);
  ASSERT_TRUE(read_exactly(**stream, got, deadline).has_value());
  EXPECT_EQ(std::string(got.begin(), got.end()), "got hello\n");
  EXPECT_TRUE(wait_until([&] { return (*stream)->side_messages() == "note?\n"; })) << (*stream)->side_messages();
}

TEST(SpawnStream, DestroyingItEndsTheChild) {
  const test::TempDir dir;
  auto stream = spawn_stream({"sh", "-c", "echo $$ > " + (dir / "pid").string() + "; echo up; exec cat > /dev/null"});
  ASSERT_TRUE(stream.has_value());
  std::vector<std::uint8_t> got(3);
  ASSERT_TRUE(read_exactly(**stream, got, Deadline(std::chrono::seconds(20))).has_value());
  const pid_t child = static_cast<pid_t>(std::stol(test::read_file(dir / "pid")));
  ASSERT_TRUE(is_alive(child));
  stream->reset();
  EXPECT_FALSE(is_alive(child));
}

} // namespace
} // namespace remotemac
