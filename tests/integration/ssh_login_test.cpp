// Reaching a host, knowing it by its key, and getting in.
#include "tests/integration/ssh_test_support.h"

namespace remotemac::sync {
namespace {
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

TEST(SshTransport, IdentitiesOnlyLeavesACrowdedAgentAlone) {
  const auto fixture = start({SshdVia::proxy, "MaxAuthTries 1\n", "  IdentitiesOnly yes\n"});
  test::make_key(fixture->dir() / "k1");
  const auto agent = test::AgentFixture::start(fixture->dir() / "agent.sock", {fixture->dir() / "k1"});
  ASSERT_TRUE(agent.has_value()) << agent.error().chain();
  ::setenv("SSH_AUTH_SOCK", (fixture->dir() / "agent.sock").c_str(), 1);
  EXPECT_TRUE(connect(*fixture) != nullptr);
  ::unsetenv("SSH_AUTH_SOCK");
}

} // namespace
} // namespace remotemac::sync
