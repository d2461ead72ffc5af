// What ~/.ssh/config means to us.
#include "sync/ssh/identities.h"
#include "tests/integration/ssh_test_support.h"

namespace remotemac::sync {
namespace {
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

} // namespace
} // namespace remotemac::sync
