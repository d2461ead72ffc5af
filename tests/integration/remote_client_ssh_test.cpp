// The protocol over a real sshd: what a client hears of a far end that has gone silent.
#include "sync/remote_client.h"
#include "tests/integration/ssh_test_support.h"
#include "tests/support/temp_dir.h"

#include <filesystem>

namespace remotemac::sync {
namespace {
// A far end that greets, agrees on a version and never says another word.
std::string silent_daemon(const SshdFixture& fixture) {
  const std::string answer = R"({"jsonrpc":"2.0","id":1,"result":{"protocol":1,"daemon_version":"0.1.0"}})";
  const std::string file = (fixture.home() / "remotemacd").string();
  const std::size_t length = answer.size() + 1;
  const std::string octal = {'\\', static_cast<char>('0' + length / 64 % 8), static_cast<char>('0' + length / 8 % 8), static_cast<char>('0' + length % 8)};
  test::write_file(file, "#!/bin/sh\nprintf 'REMOTEMAC-READY %s\\n' \"$3\"\nprintf '\\000\\000\\000" + octal + "\\001'\nprintf '%s' '" + answer + "'\nexec cat >/dev/null\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

TEST(RemoteClientOverSsh, AClientThatFollowsAJobIsToldThatTheHostHasGone) {
  const auto fixture = start({SshdVia::port, "", ""});
  SshOptions options = options_for(*fixture);
  options.keepalive = std::chrono::milliseconds(100);
  options.dead_after = std::chrono::milliseconds(600);
  const Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect("standin", options);
  ASSERT_TRUE(transport.has_value()) << transport.error().chain();
  ClientOptions client_options;
  client_options.program = silent_daemon(*fixture);
  client_options.state_dir = "/far/state";
  const auto client = RemoteClient::connect(**transport, client_options);
  ASSERT_TRUE(client.has_value()) << client.error().chain();
  fixture->freeze_connections();
  // Without signs of life on the line this would last the 20 s of the wait and the 60 s of request_timeout, and end as `deadline`.
  const auto events = (*client)->events("jabcdefghijkl", 0, std::chrono::seconds(20));
  ASSERT_FALSE(events.has_value());
  EXPECT_EQ(events.error().code(), ErrorCode::connection) << events.error().chain();
  EXPECT_NE(events.error().chain().find("nothing was heard"), std::string::npos) << events.error().chain();
  EXPECT_NE(events.error().hint().find("running jobs go on"), std::string::npos) << events.error().hint();
  EXPECT_TRUE((*client)->is_finished());
}

} // namespace
} // namespace remotemac::sync
