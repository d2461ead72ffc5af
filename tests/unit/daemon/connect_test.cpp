// The bridge: starting the daemon, meeting others that start it too, and passing bytes.
#include "tests/unit/daemon/daemon_fixture.h"

#include "common/text.h"
#include "daemon/connect.h"
#include "daemon/file_lock.h"

#include <csignal>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

namespace remotemac::daemon {
namespace {
class ConnectTest : public DaemonFixture {
protected:
  [[nodiscard]] static ProcessResult run(const std::vector<std::string>& arguments) {
    ProcessSpec spec;
    spec.argv = {REMOTEMACD};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    return PosixProcessRunner().run(spec).value();
  }
};

TEST_F(ConnectTest, ManyAtOnceMeetOneDaemon) {
  std::vector<std::thread> threads;
  std::vector<std::string> failures(8);
  for (std::size_t i = 0; i < failures.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        RawClient raw(state(), true);
        if (!raw.call("job.list", nlohmann::json::object()).contains("jobs"))
          failures[i] = "no list";
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
    });
  for (std::thread& each : threads)
    each.join();
  for (const std::string& each : failures)
    EXPECT_EQ(each, "");
  EXPECT_TRUE(daemon_pid());
}

TEST_F(ConnectTest, TheSocketAndTheFolderAreForThisUserOnly) {
  (void)connect();
  struct stat info {};
  ASSERT_EQ(::stat((state() / "serve.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  ASSERT_EQ(::stat(state().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);
}

TEST_F(ConnectTest, ADeadSocketIsReplaced) {
  (void)connect();
  kill_daemon();
  ASSERT_TRUE(std::filesystem::exists(state() / "serve.sock"));
  EXPECT_TRUE(connect()->list().has_value());
}

TEST_F(ConnectTest, AVeryLongStateFolderWorks) {
  const std::filesystem::path far = state() / std::string(120, 'x') / std::string(120, 'y');
  {
    RawClient raw(far, true);
    EXPECT_TRUE(raw.call("daemon.stop", nlohmann::json::object()).is_object());
  }
  EXPECT_TRUE(eventually([&] { return !FileLock::holder(far / "serve.lock"); }));
}

TEST_F(ConnectTest, ASecondDaemonRefuses) {
  (void)connect();
  const ProcessResult second = run({"serve", "--state-dir", state().string()});
  EXPECT_EQ(second.exit_code, exit_status(ErrorCode::setup));
  EXPECT_NE(second.err.find("another daemon"), std::string::npos) << second.err;
}

TEST_F(ConnectTest, BadArgumentsAreExplained) {
  EXPECT_EQ(run({"connect", "--nonce", "short", "--state-dir", state().string()}).exit_code, 120);
  EXPECT_EQ(run({"connect", "--nonce", std::string(32, 'a'), "--state-dir", "relative"}).exit_code, 120);
  EXPECT_EQ(run({"dance"}).exit_code, 120);
  EXPECT_EQ(run({}).exit_code, 120);
  EXPECT_NE(run({"version"}).out.find("protocol 1-1"), std::string::npos);
}

TEST_F(ConnectTest, AFolderThatOthersMayWriteIsRefused) {
  std::filesystem::create_directories(state());
  std::filesystem::permissions(state(), std::filesystem::perms::all);
  const ProcessResult result = run({"connect", "--nonce", std::string(32, 'a'), "--state-dir", state().string()});
  EXPECT_EQ(result.exit_code, exit_status(ErrorCode::setup));
  EXPECT_NE(result.err.find("chmod 700"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "") << "the marker must not be written";
}

TEST_F(ConnectTest, ADaemonThatCannotStartSaysWhy) {
  std::filesystem::create_directories(state() / "serve.log"); // a folder where its log should be
  std::filesystem::permissions(state(), std::filesystem::perms::owner_all);
  const ProcessResult result = run({"connect", "--nonce", std::string(32, 'a'), "--state-dir", state().string()});
  EXPECT_EQ(result.exit_code, exit_status(ErrorCode::setup));
  EXPECT_NE(result.err.find("ended at once; it said"), std::string::npos) << result.err;
}

TEST(Pump, CarriesEveryByteBothWaysAndEnds) {
  signal(SIGPIPE, SIG_IGN);
  int client[2];
  int server[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, client), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, server), 0);
  UniqueFd ours(client[0]);
  UniqueFd bridge(client[1]);
  UniqueFd far(server[0]);
  std::thread pumping([&bridge, socket = server[1]] { EXPECT_TRUE(pump(bridge.get(), bridge.get(), UniqueFd(socket), std::chrono::seconds(60)).has_value()); });
  std::thread echo([&far] {
    std::vector<char> buffer(100'000);
    ssize_t n = 0;
    while ((n = ::read(far.get(), buffer.data(), buffer.size())) > 0) {
      for (ssize_t done = 0; done < n;)
        done += std::max<ssize_t>(0, ::write(far.get(), buffer.data() + done, static_cast<std::size_t>(n - done)));
    }
    far.reset();
  });
  std::string sent(std::size_t{3} << 20, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i)
    sent[i] = static_cast<char>(static_cast<std::uint8_t>(i * 31 + i / 257));
  std::thread writing([&] {
    for (std::size_t done = 0; done < sent.size();)
      done += static_cast<std::size_t>(std::max<ssize_t>(0, ::write(ours.get(), sent.data() + done, sent.size() - done)));
    ::shutdown(ours.get(), SHUT_WR);
  });
  std::string got(sent.size(), '\0');
  std::size_t done = 0;
  ssize_t n = 0;
  while (done < got.size() && (n = ::read(ours.get(), got.data() + done, got.size() - done)) > 0)
    done += static_cast<std::size_t>(n);
  writing.join();
  pumping.join();
  echo.join();
  EXPECT_EQ(done, sent.size());
  EXPECT_TRUE(got == sent);
}
} // namespace
} // namespace remotemac::daemon
