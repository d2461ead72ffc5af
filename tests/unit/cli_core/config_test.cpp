#include "cli/config.h"
#include "cli/hosts.h"
#include "common/file_system.h"
#include "common/digest.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace remotemac::cli {
namespace {

class ConfigTest : public ::testing::Test {
protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() / ("rm-config-" + random_hex(6));
    std::filesystem::create_directories(m_folder);
    for (const ConfigKey& key : config_keys())
      ::unsetenv(std::string(key.environment).c_str());
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  void write(const std::string& name, const std::string& text) { ASSERT_TRUE(m_disk.write_atomic(m_folder / name, text, 0600)); }

  std::filesystem::path m_folder;
  PosixFileSystem m_disk;
};

TEST_F(ConfigTest, ValuesRememberWhereTheyCameFrom) {
  write("config.toml", "[host]\ndefault = \"mini1\"\n");
  ::setenv("REMOTEMAC_COLOUR", "never", 1);
  const auto config = Config::load(m_folder / "config.toml");
  ::unsetenv("REMOTEMAC_COLOUR");
  ASSERT_TRUE(config) << config.error().chain();
  EXPECT_EQ(config->value("host.default").origin, "config.toml:2");
  EXPECT_EQ(config->value("output.colour").origin, "environment REMOTEMAC_COLOUR");
  EXPECT_EQ(config->value("ssh.connect_timeout").origin, "default");
  EXPECT_EQ(config->seconds("ssh.connect_timeout"), 20u);
}

TEST_F(ConfigTest, UnknownAndBrokenKeysNameTheirPlace) {
  write("config.toml", "[ssh]\nconect_timeout = \"5s\"\n");
  const auto unknown = Config::load(m_folder / "config.toml");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().chain().find("config.toml:2"), std::string::npos);
  EXPECT_NE(unknown.error().hint().find("ssh.connect_timeout"), std::string::npos);
  write("config.toml", "[output]\ncolour = \"pink\"\n");
  const auto broken = Config::load(m_folder / "config.toml");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().chain().find("auto, always, never"), std::string::npos);
}

TEST_F(ConfigTest, SettingKeepsTheOthersAndChecksFirst) {
  const auto file = m_folder / "config.toml";
  ASSERT_TRUE(set_config(file, "host.default", "mini1"));
  ASSERT_TRUE(set_config(file, "output.colour", "never"));
  EXPECT_FALSE(set_config(file, "output.colour", "pink"));
  EXPECT_FALSE(set_config(file, "nothing.known", "1"));
  const auto config = Config::load(file);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->text("host.default"), "mini1");
  EXPECT_EQ(config->text("output.colour"), "never");
}

TEST_F(ConfigTest, HostsSurviveWritingAndReading) {
  const Paths paths{m_folder, m_folder, m_folder};
  const auto config = Config::load(m_folder / "config.toml");
  ASSERT_TRUE(config);
  auto store = HostStore::load(paths, *config);
  ASSERT_TRUE(store);
  HostRecord host;
  host.name = "mini1";
  host.destination = "me@mac.example.org";
  host.fingerprints = {"SHA256:abc", "SHA256:def"};
  host.operator_name = "Rental \"GmbH\"";
  host.lease_end = "2026-12-31";
  ASSERT_TRUE(store->put(host));
  const auto again = HostStore::load(paths, *config);
  ASSERT_TRUE(again) << again.error().chain();
  const auto found = again->find("mini1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fingerprints, host.fingerprints);
  EXPECT_EQ(found->operator_name, host.operator_name);
  EXPECT_EQ(found->lease_end, host.lease_end);
  const auto slip = again->find("mini2");
  ASSERT_FALSE(slip);
  EXPECT_EQ(slip.error().code(), ErrorCode::no_host);
  EXPECT_NE(slip.error().hint().find("mini1"), std::string::npos);
}

TEST_F(ConfigTest, AHostWithoutAPinIsNotAccepted) {
  write("hosts.toml", "[mini1]\ndestination = \"me@mac.example.org\"\n");
  const auto config = Config::load(m_folder / "config.toml");
  const auto store = HostStore::load({m_folder, m_folder, m_folder}, *config);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message().find("hosts.toml:1"), std::string::npos);
}

TEST(HostNames, RefuseWhatCouldConfuse) {
  for (const char* bad : {"", "local", "-x", "a b", "a/b", "a\nb"})
    EXPECT_FALSE(check_host_name(bad)) << bad;
  EXPECT_TRUE(check_host_name("mini-1.lab"));
}

} // namespace
} // namespace remotemac::cli
