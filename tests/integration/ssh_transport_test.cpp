// The libssh transport against a real sshd.
#include "sync/ssh/ssh_transport.h"

#include "common/text.h"
#include "sync/ssh/identities.h"
#include "tests/support/sshd_fixture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

namespace remotemac::sync {
namespace {
using test::SshdFixture;
using test::SshdOptions;
using test::SshdVia;

Deadline soon() { return Deadline(std::chrono::seconds(30)); }

std::unique_ptr<SshdFixture> start(const SshdOptions& options = {}) {
  ::unsetenv("SSH_AUTH_SOCK");
  Result<std::unique_ptr<SshdFixture>> fixture = SshdFixture::start(options);
  if (!fixture)
    ADD_FAILURE() << fixture.error().chain();
  return fixture ? std::move(*fixture) : nullptr;
}

SshOptions options_for(const SshdFixture& fixture) {
  SshOptions options;
  options.config_file = fixture.client_config();
  options.pinned = {{"ssh-ed25519", fixture.host_key_fingerprint()}};
  return options;
}

std::unique_ptr<SshTransport> connect(const SshdFixture& fixture) {
  Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect(fixture.destination(), options_for(fixture));
  if (!transport)
    ADD_FAILURE() << transport.error().chain() << "\n" << fixture.log();
  return transport ? std::move(*transport) : nullptr;
}

std::string read_to_end(ByteStream& stream, std::size_t max = std::size_t{64} << 20) {
  std::string out;
  std::vector<std::uint8_t> buffer(65536);
  while (out.size() < max) {
    const Result<std::size_t> n = stream.read_some(buffer, soon());
    if (!n) {
      ADD_FAILURE() << n.error().chain();
      break;
    }
    if (*n == 0)
      break;
    out.append(reinterpret_cast<const char*>(buffer.data()), *n);
  }
  return out;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

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

TEST(SshTransport, AnotherHostKeyThanThePinnedOneIsRefusedWithBothFingerprints) {
  const auto fixture = start();
  SshOptions options = options_for(*fixture);
  const std::string pinned = options.pinned[0].fingerprint;
  fixture->change_host_key();
  const Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect(fixture->destination(), options);
  ASSERT_FALSE(transport.has_value());
  EXPECT_EQ(transport.error().code(), ErrorCode::host_key);
  EXPECT_NE(transport.error().message().find(pinned), std::string::npos);
  EXPECT_NE(transport.error().message().find(fixture->host_key_fingerprint()), std::string::npos);
  EXPECT_EQ(fixture->log().find("Accepted publickey"), std::string::npos) << "a login was tried at a wrong host";
}

TEST(SshTransport, WithoutAPinNothingIsSent) {
  const auto fixture = start();
  SshOptions options = options_for(*fixture);
  options.pinned.clear();
  const Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect(fixture->destination(), options);
  ASSERT_FALSE(transport.has_value());
  EXPECT_EQ(transport.error().code(), ErrorCode::host_key);
  EXPECT_EQ(fixture->log().find("Accepted"), std::string::npos);
}

TEST(SshTransport, APinOfAnyTypeAndOneOfSeveralPinsAreEnough) {
  const auto fixture = start();
  SshOptions options = options_for(*fixture);
  options.pinned = {{"ssh-rsa", "SHA256:" + std::string(43, 'A')}, {"", fixture->host_key_fingerprint()}};
  const Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect(fixture->destination(), options);
  ASSERT_TRUE(transport.has_value()) << transport.error().chain();
  EXPECT_EQ((*transport)->host_key().fingerprint, fixture->host_key_fingerprint());
}

TEST(SshTransport, KnownHostsFilesHaveNoSay) {
  // The user's file names another key for the host: ssh itself would refuse, our pin is what counts.
  const auto fixture = start();
  test::make_key(fixture->dir() / "other");
  const std::string other = test::read_file(fixture->dir() / "other.pub");
  test::write_file(fixture->dir() / "known_hosts", "standin.invalid " + other);
  EXPECT_TRUE(connect(*fixture) != nullptr);
}

TEST(SshTransport, AWrongUserAndAWrongKeyAreLoginErrorsThatNameTheUser) {
  const auto fixture = start();
  const Result<std::unique_ptr<SshTransport>> user = SshTransport::connect("nobody-here@standin", options_for(*fixture));
  ASSERT_FALSE(user.has_value());
  EXPECT_EQ(user.error().code(), ErrorCode::authentication) << user.error().chain();
  EXPECT_NE(user.error().message().find("'nobody-here'"), std::string::npos);
  EXPECT_NE(user.error().hint().find("authorized_keys"), std::string::npos);
  test::make_key(fixture->key_file());
  const Result<std::unique_ptr<SshTransport>> key = SshTransport::connect("standin", options_for(*fixture));
  ASSERT_FALSE(key.has_value());
  EXPECT_EQ(key.error().code(), ErrorCode::authentication) << key.error().chain();
}

TEST(SshTransport, AKeyWithAPassphraseIsAskedForAndNamedWhenNobodyCanBeAsked) {
  const auto fixture = start();
  test::make_key(fixture->key_file(), "ed25519", "open sesame");
  test::write_file(fixture->dir() / "authorized_keys", test::read_file(fixture->dir() / "client_key.pub"));
  SshOptions options = options_for(*fixture);
  const Result<std::unique_ptr<SshTransport>> nobody = SshTransport::connect("standin", options);
  ASSERT_FALSE(nobody.has_value());
  EXPECT_EQ(nobody.error().code(), ErrorCode::authentication);
  EXPECT_NE(nobody.error().message().find("client_key"), std::string::npos) << nobody.error().chain();
  EXPECT_NE(nobody.error().hint().find("ssh-add"), std::string::npos);
  std::string asked;
  options.ask = [&](const std::string& question, Echo echo) -> std::optional<std::string> {
    asked = question;
    EXPECT_EQ(echo, Echo::no);
    return "open sesame";
  };
  const Result<std::unique_ptr<SshTransport>> opened = SshTransport::connect("standin", options);
  ASSERT_TRUE(opened.has_value()) << opened.error().chain();
  EXPECT_NE(asked.find("client_key"), std::string::npos);
  options.ask = [](const std::string&, Echo) -> std::optional<std::string> { return "wrong"; };
  EXPECT_FALSE(SshTransport::connect("standin", options).has_value());
}

TEST(SshTransport, ThePublicKeyFileIsNotNeededAndNotWritten) {
  const auto fixture = start();
  std::filesystem::remove(fixture->key_file().string() + ".pub");
  EXPECT_TRUE(connect(*fixture) != nullptr);
  EXPECT_FALSE(std::filesystem::exists(fixture->key_file().string() + ".pub")) << "a login left a file behind";
}

TEST(SshTransport, UnreachableHostsSayWhichWay) {
  const auto fixture = start({SshdVia::port, "", ""});
  SshOptions options = options_for(*fixture);
  test::write_file(fixture->client_config(), "Host closed\n HostName 127.0.0.1\n Port 1\nHost unknown\n HostName no-such-host.invalid\n"
                                             "Host proxy\n ProxyCommand sh -c 'echo no way through >&2; exit 1'\n");
  const Result<std::unique_ptr<SshTransport>> closed = SshTransport::connect("closed", options);
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().code(), ErrorCode::unreachable);
  EXPECT_NE(closed.error().message().find("refused"), std::string::npos) << closed.error().chain();
  const Result<std::unique_ptr<SshTransport>> unknown = SshTransport::connect("unknown", options);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), ErrorCode::unreachable);
  EXPECT_NE(unknown.error().message().find("no-such-host.invalid"), std::string::npos);
  const Result<std::unique_ptr<SshTransport>> proxy = SshTransport::connect("proxy", options);
  ASSERT_FALSE(proxy.has_value());
  EXPECT_EQ(proxy.error().code(), ErrorCode::unreachable) << proxy.error().chain();
  EXPECT_NE(proxy.error().message().find("no way through"), std::string::npos) << proxy.error().chain();
}

TEST(SshTransport, AServerThatSaysNothingOrNonsenseIsAnErrorInTime) {
  const auto fixture = start({SshdVia::port, "", ""});
  SshOptions options = options_for(*fixture);
  options.connect_timeout = std::chrono::milliseconds(700);
  test::write_file(fixture->client_config(), "Host silent\n ProxyCommand sleep 30\nHost nonsense\n ProxyCommand yes\n");
  const Result<std::unique_ptr<SshTransport>> silent = SshTransport::connect("silent", options);
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code(), ErrorCode::deadline) << silent.error().chain();
  EXPECT_NE(silent.error().hint().find("ProxyCommand"), std::string::npos);
  const Result<std::unique_ptr<SshTransport>> nonsense = SshTransport::connect("nonsense", options);
  ASSERT_FALSE(nonsense.has_value());
  EXPECT_TRUE(nonsense.error().code() == ErrorCode::deadline || nonsense.error().code() == ErrorCode::connection) << nonsense.error().chain();
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

TEST(SshTransport, ProxyJumpGoesThroughTheSshProgramWithTheSameConfiguration) {
  const auto bastion = start({SshdVia::port, "", ""});
  const auto fixture = start({SshdVia::port, "", ""});
  test::write_file(fixture->client_config(), test::read_file(fixture->client_config()) + "  ProxyJump bastion\nHost bastion\n  HostName 127.0.0.1\n  Port " +
                                                 std::to_string(bastion->port()) + "\n  User " + bastion->user() + "\n  IdentityFile " +
                                                 bastion->key_file().string() + "\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n");
  const auto transport = connect(*fixture);
  ASSERT_TRUE(transport);
  const Result<ProcessResult> result = transport->run("echo through", "", soon(), 100);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_EQ(result->out, "through\n");
  EXPECT_NE(bastion->log().find("Accepted publickey"), std::string::npos);
}

TEST(SshTransport, AnAgentLogsInAndIsNotForwarded) {
  const auto fixture = start();
  const auto agent = test::AgentFixture::start(fixture->dir() / "agent.sock", {fixture->key_file()});
  ASSERT_TRUE(agent.has_value()) << agent.error().chain();
  std::filesystem::rename(fixture->key_file(), fixture->dir() / "away"); // only the agent knows the key now
  ::setenv("SSH_AUTH_SOCK", (fixture->dir() / "agent.sock").c_str(), 1);
  const auto transport = connect(*fixture);
  ::unsetenv("SSH_AUTH_SOCK");
  ASSERT_TRUE(transport);
  const Result<ProcessResult> result = transport->run("echo \"[$SSH_AUTH_SOCK]\"", "", soon(), 100);
  ASSERT_TRUE(result) << result.error().chain();
  EXPECT_EQ(result->out, "[]\n");
}

TEST(SshTransport, AnAgentWithTooManyKeysDoesNotLockUsOut) {
  const auto fixture = start({SshdVia::proxy, "MaxAuthTries 3\n", ""});
  std::vector<std::filesystem::path> keys;
  for (const char* name : {"k1", "k2", "k3", "k4"}) {
    keys.push_back(fixture->dir() / name);
    test::make_key(keys.back());
  }
  const auto agent = test::AgentFixture::start(fixture->dir() / "agent.sock", keys);
  ASSERT_TRUE(agent.has_value()) << agent.error().chain();
  ::setenv("SSH_AUTH_SOCK", (fixture->dir() / "agent.sock").c_str(), 1);
  const auto transport = connect(*fixture);
  ::unsetenv("SSH_AUTH_SOCK");
  EXPECT_TRUE(transport != nullptr);
}

TEST(SshTransport, TheConfigurationIsReadAsSshReadsIt) {
  test::TempDir dir;
  test::write_file(dir / "more", "Host mini*\n  Port 2200\n");
  test::write_file(dir / "config", "Host mini1\n  HostName mini1.example.org\n  User kim\nInclude " + (dir / "more").string() +
                                       "\nHost hidden\n  HostName mini2.example.org\n  ProxyCommand nc -X 5 %h %p as %r for %n 100%%\n");
  const Result<SshTarget> alias = resolve_destination("mini1", dir / "config");
  ASSERT_TRUE(alias.has_value()) << alias.error().chain();
  EXPECT_EQ(alias->host, "mini1.example.org");
  EXPECT_EQ(alias->user, "kim");
  EXPECT_EQ(alias->port, 2200);
  const Result<SshTarget> stronger = resolve_destination("lee@mini1:22", dir / "config");
  ASSERT_TRUE(stronger.has_value());
  EXPECT_EQ(stronger->user, "lee") << "what was typed wins over the file";
  EXPECT_EQ(stronger->port, 22);
  const Result<SshTarget> hidden = resolve_destination("max@hidden", dir / "config");
  ASSERT_TRUE(hidden.has_value()) << hidden.error().chain();
  EXPECT_EQ(hidden->proxy, "nc -X 5 mini2.example.org 22 as max for hidden 100%");
}

TEST(SshTransport, ABrokenOrDangerousConfigurationIsAConfigError) {
  test::TempDir dir;
  test::write_file(dir / "config", "Host a\n  HostName -oProxyCommand=touch\nHost b\n  User $(id)\nHost c\n  ProxyCommand nc %h %Z\nMatch nonsense x\n");
  EXPECT_EQ(resolve_destination("a", dir / "missing").error().code(), ErrorCode::config);
  const Result<SshTarget> broken = resolve_destination("a", dir / "config");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code(), ErrorCode::config);
  test::write_file(dir / "config", "Host b\n  User $(id)\nHost c\n  ProxyCommand nc %h %Z\n");
  EXPECT_EQ(resolve_destination("b", dir / "config").error().code(), ErrorCode::config);
  EXPECT_EQ(resolve_destination("c", dir / "config").error().code(), ErrorCode::config);
}

TEST(SshTransport, IdentityFilesKeepTheirOrderAndIdentitiesOnlyIsHonoured) {
  test::TempDir dir;
  test::write_file(dir / "config", "Host mini*\n IdentityFile /k/one\n IdentityFile \"/k/two words\"\nHost other\n IdentityFile /k/no\n"
                                   "Host mini1 !mini2\n IdentitiesOnly=yes\n IdentityAgent none\nMatch host real.example.org user kim\n IdentityFile /k/%h-%r\n"
                                   "Match exec true\n IdentityFile /k/never\n");
  const Identities found = read_identities(dir / "config", "mini1", {"kim", "real.example.org", 22, ""});
  const std::vector<std::filesystem::path> expected = {"/k/one", "/k/two words", "/k/real.example.org-kim"};
  EXPECT_EQ(found.files, expected);
  EXPECT_TRUE(found.only);
  EXPECT_EQ(found.agent, "none");
  const Identities usual = read_identities(dir / "config", "elsewhere", {"kim", "elsewhere", 22, ""});
  EXPECT_EQ(usual.files.size(), 3U);
  EXPECT_FALSE(usual.only);
}

TEST(SshTransport, IdentitiesOnlyLeavesACrowdedAgentAlone) {
  const auto fixture = start({SshdVia::proxy, "MaxAuthTries 1\n", "  IdentitiesOnly yes\n"});
  test::make_key(fixture->dir() / "k1");
  const auto agent = test::AgentFixture::start(fixture->dir() / "agent.sock", {fixture->dir() / "k1"});
  ASSERT_TRUE(agent.has_value()) << agent.error().chain();
  ::setenv("SSH_AUTH_SOCK", (fixture->dir() / "agent.sock").c_str(), 1);
  EXPECT_TRUE(connect(*fixture) != nullptr);
  ::unsetenv("SSH_AUTH_SOCK");
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
