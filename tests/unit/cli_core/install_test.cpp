#include "cli/install.h"
#include "common/digest.h"
#include "common/file_system.h"
#include "sync/local_transport.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace remotemac::cli {
namespace {

// The "host" is this machine through /bin/sh, with a home of its own: the same scripts run that run over SSH.
class InstallTest : public ::testing::Test {
protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() / ("rm-install-" + random_hex(6));
    std::filesystem::create_directories(m_folder / "bin");
    std::filesystem::create_directories(m_folder / "home with space");
    ASSERT_TRUE(m_disk.write_atomic(m_folder / "bin" / "remotemacd", std::string(100'000, 'd'), 0755));
    ASSERT_TRUE(m_disk.write_atomic(m_folder / "bin" / "remotemac-worker", "worker", 0755));
    ASSERT_TRUE(m_disk.write_atomic(m_folder / "bin" / "other", "not ours", 0755));
    m_probe.system = "Linux";
    m_probe.machine = "x86_64";
    m_probe.home = (m_folder / "home with space").string();
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }

  std::filesystem::path m_folder;
  PosixFileSystem m_disk;
  sync::LocalTransport m_transport;
  RemoteProbe m_probe;
};

TEST_F(InstallTest, ProbeTellsSystemAndHome) {
  const auto probe = probe_host(m_transport);
  ASSERT_TRUE(probe) << probe.error().chain();
  EXPECT_EQ(probe->system, "Linux");
  EXPECT_EQ(probe->noise_bytes, 0u);
  EXPECT_EQ(probe->home.front(), '/');
}

TEST_F(InstallTest, InstallsOnceAndFindsItAgain) {
  const auto payload = find_payload(m_folder / "bin" / "remotemac", "Linux", "x86_64");
  ASSERT_TRUE(payload) << payload.error().chain();
  ASSERT_EQ(payload->files.size(), 2u);
  const auto first = install_on_host(m_transport, m_probe, *payload, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(first) << first.error().chain();
  EXPECT_EQ(first->sent_bytes, 100'006u);
  const auto stored = m_disk.read_file(first->install_dir + "/remotemacd", 1u << 20);
  ASSERT_TRUE(stored);
  EXPECT_EQ(*stored, std::string(100'000, 'd'));
  const auto again = install_on_host(m_transport, m_probe, *payload, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sent_bytes, 0u);
  const auto listed = m_disk.list(first->install_dir);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->size(), 2u) << "a temporary file was left";
}

TEST_F(InstallTest, RemovesOnlyItsOwnFolders) {
  const auto payload = find_payload(m_folder / "bin" / "remotemac", "Linux", "x86_64");
  ASSERT_TRUE(payload);
  const auto installed = install_on_host(m_transport, m_probe, *payload, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(installed);
  EXPECT_FALSE(remove_from_host(m_transport, m_folder.string() + "/bin", installed->state_dir));
  EXPECT_FALSE(remove_from_host(m_transport, installed->install_dir + "/../../bin", installed->state_dir));
  EXPECT_FALSE(remove_from_host(m_transport, m_folder.string() + "/remotemac", installed->state_dir)) << "a source folder of that name";
  EXPECT_FALSE(remove_from_host(m_transport, installed->install_dir + "/..", installed->state_dir));
  EXPECT_FALSE(remove_from_host(m_transport, installed->install_dir, m_folder.string() + "/remotemac-data"));
  EXPECT_TRUE(m_disk.exists(m_folder / "bin" / "remotemacd"));
  const auto removed = remove_from_host(m_transport, installed->install_dir, installed->state_dir);
  ASSERT_TRUE(removed) << removed.error().chain();
  EXPECT_FALSE(m_disk.exists(installed->install_dir));
  EXPECT_FALSE(m_disk.exists(installed->state_dir));
}

TEST_F(InstallTest, SaysWhereBinariesOfAnotherSystemBelong) {
  const auto payload = find_payload(m_folder / "bin" / "remotemac", "Darwin", "arm64");
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().code(), ErrorCode::setup);
  EXPECT_FALSE(find_payload(m_folder / "bin" / "remotemac", "../../../bin/x", "y")) << "what a host says chooses no folder here";
  EXPECT_NE(payload.error().hint().find("libexec/remotemac/Darwin-arm64"), std::string::npos);
}

} // namespace
} // namespace remotemac::cli
