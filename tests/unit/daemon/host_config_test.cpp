#include "daemon/host_config.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace remotemac::daemon {
namespace {
class HostConfigTest : public testing::Test {
protected:
  Result<HostConfig> load(const std::string& text) {
    test::write_file(m_dir / "host.toml", text);
    return load_host_config(m_disk, m_dir / "host.toml");
  }
  void expect_error(const std::string& text, const std::string& message, const std::string& hint = "") {
    const Result<HostConfig> config = load(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_EQ(config.error().code(), ErrorCode::config);
    EXPECT_NE(config.error().chain().find(message), std::string::npos) << config.error().chain();
    EXPECT_NE(config.error().hint().find(hint), std::string::npos) << config.error().hint();
  }
  test::TempDir m_dir;
  PosixFileSystem m_disk;
};

TEST_F(HostConfigTest, EveryKey) {
  const Result<HostConfig> config = load("python = \"/opt/p\"\npackages_from = \"\"\nworker_preload = [\"/a.so\", \"/b.so\"]\nworkers = [\"/w\"]\nallow_network = true\n");
  ASSERT_TRUE(config.has_value()) << config.error().chain();
  EXPECT_EQ(config->python, "/opt/p");
  EXPECT_EQ(config->packages_from, "");
  EXPECT_EQ(config->worker_preload, (std::vector<std::string>{"/a.so", "/b.so"}));
  EXPECT_EQ(config->workers, std::vector<std::string>{"/w"});
  EXPECT_EQ(config->allow_network, AllowNetwork::yes);
}

TEST_F(HostConfigTest, AMissingFileGivesTheDefaults) {
  const Result<HostConfig> config = load_host_config(m_disk, m_dir / "none.toml");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->python, "");
  EXPECT_EQ(config->allow_network, AllowNetwork::no);
}

TEST_F(HostConfigTest, ComplaintsNameFileLineColumnAndTheNearestKey) {
  expect_error("# mine\npyton = \"/p\"\n", "host.toml:2:9: unknown key 'pyton'", "did you mean 'python'?");
  expect_error("python = 5\n", "host.toml:1:10: 'python' in host.toml must be text in quotes");
  expect_error("python = \"bin/python\"\n", "host.toml:1:10: 'python' must be an absolute path");
  expect_error("workers = [\"/good\", \"bad\"]\n", "host.toml:1:21: every item of 'workers' must be an absolute path");
  expect_error("workers = \"/w\"\n", "'workers' in host.toml must be a list");
  expect_error("allow_network = \"yes\"\n", "must be true or false");
  expect_error("\npython = \n", "host.toml:2:", "strings need quotes");
}
} // namespace
} // namespace remotemac::daemon
