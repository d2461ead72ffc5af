// The libssh transport against a real sshd: channels, their bytes and their ends.
#include "tests/integration/ssh_test_support.h"

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace remotemac::sync {
namespace {
class SshTransportTest : public testing::TestWithParam<SshdVia> {};
INSTANTIATE_TEST_SUITE_P(Via, SshTransportTest, testing::Values(SshdVia::proxy, SshdVia::port),
                         [](const auto& each) { return each.param == SshdVia::proxy ? "proxy" : "port"; });

TEST_P(SshTransportTest, RunsACommandWithInputExitStatusAndErrorText) {
  const auto fixture = start({GetParam(), "", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  const Result<ProcessResult> result = transport->run("cat; echo oops >&2; exit 7", "hello", soon(), 1000);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_EQ(result->out, "hello");
  EXPECT_EQ(result->err, "oops\n");
  EXPECT_EQ(result->exit_code, 7);
  EXPECT_FALSE(result->truncated);
}

TEST_P(SshTransportTest, FetchesTheHostKeyThatSshKeygenNames) {
  const auto fixture = start({GetParam(), "", ""});
  const Result<HostKey> key = fetch_host_key(fixture->destination(), options_for(*fixture));
  ASSERT_TRUE(key) << key.error().chain() << fixture->log();
  EXPECT_EQ(key->type, "ssh-ed25519");
  EXPECT_EQ(key->fingerprint, fixture->host_key_fingerprint());
}

TEST_P(SshTransportTest, CarriesBytesBothWaysUnchanged) {
  const auto fixture = start({GetParam(), "", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  std::string sent(std::size_t{24} << 20, '\0');
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i + 8 <= sent.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(sent.data() + i, &word, 8);
  }
  const Result<ProcessResult> result = transport->run("cat", sent, soon(), sent.size() + 1);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_TRUE(result->out == sent);
}

TEST_P(SshTransportTest, ManyChannelsWorkAtTheSameTime) {
  const auto fixture = start({GetParam(), "", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  std::vector<std::thread> threads;
  std::vector<std::string> received(6);
  for (std::size_t i = 0; i < received.size(); ++i) {
    threads.emplace_back([&, i] {
      auto stream = transport->exec("cat", soon());
      ASSERT_TRUE(stream) << stream.error().chain();
      const std::string part(200'000, static_cast<char>('a' + i));
      for (int round = 0; round < 5; ++round) {
        ASSERT_TRUE((*stream)->write_all(bytes_of(part), soon()));
        std::vector<std::uint8_t> back(part.size());
        ASSERT_TRUE(read_exactly(**stream, back, soon()));
        received[i].append(back.begin(), back.end());
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (std::size_t i = 0; i < received.size(); ++i)
    EXPECT_TRUE(received[i] == std::string(1'000'000, static_cast<char>('a' + i))) << i;
}

TEST_P(SshTransportTest, KeysAreExchangedAnewInTheMiddleOfATransfer) {
  const auto fixture = start({GetParam(), "RekeyLimit 1M\nLogLevel DEBUG1\n", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  const std::string sent(std::size_t{12} << 20, 'x');
  const Result<ProcessResult> result = transport->run("cat", sent, soon(), sent.size() + 1);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_TRUE(result->out == sent);
  const std::string log = fixture->log();
  const std::size_t first = log.find("SSH2_MSG_KEXINIT sent");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(log.find("SSH2_MSG_KEXINIT sent", first + 1), std::string::npos) << "the server was to renew its keys";
}

TEST_P(SshTransportTest, AReaderThatDoesNotReadStopsTheSender) {
  const auto fixture = start({GetParam(), "", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  auto stream = transport->exec("head -c 40000000 /dev/zero; echo end", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  // Another command still works while the first one's buffers are full.
  const Result<ProcessResult> other = transport->run("echo fine", "", soon(), 100);
  ASSERT_TRUE(other) << other.error().chain();
  EXPECT_EQ(other->out, "fine\n");
  const std::string all = read_to_end(**stream);
  EXPECT_EQ(all.size(), 40'000'004U);
  EXPECT_EQ(all.substr(40'000'000), "end\n");
}

TEST_P(SshTransportTest, AKilledServerIsAConnectionErrorAndNotAHang) {
  const auto fixture = start({GetParam(), "", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  auto stream = transport->exec("cat", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  fixture->kill_connections();
  std::vector<std::uint8_t> buffer(16);
  const Result<std::size_t> n = (*stream)->read_some(buffer, soon());
  ASSERT_FALSE(n.has_value());
  EXPECT_EQ(n.error().code(), ErrorCode::connection) << n.error().chain();
  EXPECT_FALSE(n.error().hint().empty());
  const Result<ProcessResult> later = transport->run("true", "", soon(), 10);
  ASSERT_FALSE(later.has_value());
  EXPECT_EQ(later.error().code(), ErrorCode::connection);
}

TEST(SshTransport, AKillInTheMiddleOfALargeWriteEndsTheWrite) {
  const auto fixture = start({SshdVia::port, "", ""});
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  auto stream = transport->exec("cat >/dev/null", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  std::atomic<bool> wrote{false};
  Result<void> end = ok();
  std::thread writer([&] {
    const std::vector<std::uint8_t> block(1 << 20, 1);
    while (end) {
      end = (*stream)->write_all(block, soon());
      wrote = true;
    }
  });
  const Deadline deadline(std::chrono::seconds(20));
  while (!wrote && !deadline.passed())
    std::this_thread::yield();
  fixture->kill_connections();
  writer.join();
  EXPECT_EQ(end.error().code(), ErrorCode::connection) << end.error().chain();
}

TEST(SshTransport, ReadsAndWritesEndAtTheirDeadline) {
  const auto fixture = start();
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  auto stream = transport->exec("sleep 60", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  std::vector<std::uint8_t> buffer(std::size_t{16} << 20);
  const Result<std::size_t> n = (*stream)->read_some(buffer, Deadline(std::chrono::milliseconds(50)));
  ASSERT_FALSE(n.has_value());
  EXPECT_EQ(n.error().code(), ErrorCode::deadline);
  const Result<void> written = (*stream)->write_all(buffer, Deadline(std::chrono::milliseconds(200)));
  ASSERT_FALSE(written.has_value()) << "nobody reads 16 MiB there";
  EXPECT_EQ(written.error().code(), ErrorCode::deadline);
  const Result<ProcessResult> run = transport->run("sleep 60", "", Deadline(std::chrono::milliseconds(100)), 10);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code(), ErrorCode::deadline);
}

TEST(SshTransport, ACommandThatDoesNotReadItsInputStillHasItsOutputRead) {
  const auto fixture = start();
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  const std::string input(std::size_t{8} << 20, 'x');
  const Result<ProcessResult> result = transport->run("echo early; exit 3", input, soon(), 100);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_EQ(result->out, "early\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST(SshTransport, OutputBeyondTheCapIsDroppedAndSaid) {
  const auto fixture = start();
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  const Result<ProcessResult> result = transport->run("head -c 3000000 /dev/zero; head -c 100000 /dev/zero >&2", "", soon(), 1000);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_EQ(result->out.size(), 1000U);
  EXPECT_EQ(result->err.size(), 1000U);
  EXPECT_TRUE(result->truncated);
}

TEST(SshTransport, TextOnTheErrorChannelIsCappedAndCleaned) {
  const auto fixture = start();
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  auto stream = transport->exec("printf '\\033[31mred\\033[0m' >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  EXPECT_EQ(read_to_end(**stream), "");
  const std::string text = (*stream)->side_messages();
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("red"), std::string::npos);
  EXPECT_LE(text.size(), 32768U);
}

TEST(SshTransport, AFrozenHostIsNoticed) {
  const auto fixture = start({SshdVia::port, "", ""});
  SshOptions options = options_for(*fixture);
  options.keepalive = std::chrono::milliseconds(100);
  options.dead_after = std::chrono::milliseconds(600);
  const Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect("standin", options);
  ASSERT_TRUE(transport.has_value()) << transport.error().chain();
  auto stream = (*transport)->exec("cat", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  // An idle but living line stays up for longer than dead_after: the host answers.
  std::vector<std::uint8_t> buffer(16);
  const Result<std::size_t> idle = (*stream)->read_some(buffer, Deadline(std::chrono::milliseconds(1500)));
  ASSERT_FALSE(idle.has_value());
  EXPECT_EQ(idle.error().code(), ErrorCode::deadline) << idle.error().chain();
  fixture->freeze_connections();
  const Result<std::size_t> dead = (*stream)->read_some(buffer, soon());
  ASSERT_FALSE(dead.has_value());
  EXPECT_EQ(dead.error().code(), ErrorCode::connection) << dead.error().chain();
  EXPECT_NE(dead.error().message().find("nothing was heard"), std::string::npos) << dead.error().chain();
}

TEST(SshTransport, AStreamOutlivesItsTransportAsAnError) {
  const auto fixture = start();
  auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  auto stream = transport->exec("cat", soon());
  ASSERT_TRUE(stream) << stream.error().chain();
  transport.reset();
  std::vector<std::uint8_t> buffer(16);
  EXPECT_EQ((*stream)->read_some(buffer, soon()).error().code(), ErrorCode::connection);
  EXPECT_EQ((*stream)->write_all(buffer, soon()).error().code(), ErrorCode::connection);
}

} // namespace
} // namespace remotemac::sync
