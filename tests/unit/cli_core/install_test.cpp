#include "cli/doctor.h"
#include "cli/install.h"
#include "common/digest.h"
#include "common/file_system.h"
#include "sync/local_transport.h"

#include <algorithm>
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

TEST_F(InstallTest, RemovalFindsVersionsOfEarlierReleases) {
  const auto payload = find_payload(m_folder / "bin" / "remotemac", "Linux", "x86_64");
  ASSERT_TRUE(payload);
  const auto installed = install_on_host(m_transport, m_probe, *payload, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(installed);
  const std::filesystem::path root = std::filesystem::path(installed->install_dir).parent_path();
  const std::filesystem::path earlier = root / "0.0.9-0123456789ab";
  std::filesystem::create_directories(earlier);
  ASSERT_TRUE(m_disk.write_atomic(earlier / "remotemacd", "older", 0500));
  ASSERT_TRUE(m_disk.write_atomic(earlier / "remotemac-worker-2.9", "older", 0500));
  ASSERT_TRUE(m_disk.write_atomic(earlier / ".remotemacd.00ff00ff00ff", "an upload that was broken off", 0600));
  std::filesystem::create_directories(std::filesystem::path(installed->state_dir) / "snapshots" / "frozen");
  ASSERT_TRUE(m_disk.set_mode(std::filesystem::path(installed->state_dir) / "snapshots" / "frozen", 0500));
  const auto removed = remove_from_host(m_transport, installed->install_dir, installed->state_dir);
  ASSERT_TRUE(removed) << removed.error().chain();
  EXPECT_EQ(removed->deleted.size(), 3u);
  EXPECT_TRUE(removed->foreign.empty());
  EXPECT_FALSE(m_disk.exists(root)) << "the root itself, when it is empty";
  EXPECT_FALSE(m_disk.exists(installed->state_dir));
}

TEST_F(InstallTest, RemovalLeavesAndNamesWhatIsNotOurs) {
  const auto payload = find_payload(m_folder / "bin" / "remotemac", "Linux", "x86_64");
  ASSERT_TRUE(payload);
  const auto installed = install_on_host(m_transport, m_probe, *payload, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(installed);
  const std::filesystem::path root = std::filesystem::path(installed->install_dir).parent_path();
  const std::filesystem::path thesis = std::filesystem::path(installed->install_dir) / "thesis.tex";
  ASSERT_TRUE(m_disk.write_atomic(thesis, "mine", 0600));
  for (const char* name : {"notes", "backup-0123456789ab", "1.0-0123456789abc", "1.0-0123456789AB"})
    std::filesystem::create_directories(root / name);
  ASSERT_TRUE(m_disk.write_atomic(root / "backup-0123456789ab" / "remotemacd", "not ours", 0600));
  std::filesystem::create_directory_symlink(m_folder / "bin", root / "0.0.8-0123456789ab");
  const auto removed = remove_from_host(m_transport, installed->install_dir, installed->state_dir);
  ASSERT_TRUE(removed) << removed.error().chain();
  EXPECT_EQ(removed->deleted, std::vector<std::string>{installed->state_dir});
  EXPECT_EQ(removed->foreign.size(), 6u);
  EXPECT_NE(std::find(removed->foreign.begin(), removed->foreign.end(), thesis.string()), removed->foreign.end());
  EXPECT_TRUE(m_disk.exists(thesis));
  EXPECT_TRUE(m_disk.exists(root / "backup-0123456789ab" / "remotemacd"));
  EXPECT_TRUE(m_disk.exists(m_folder / "bin" / "remotemacd")) << "a link was followed";
  EXPECT_FALSE(m_disk.exists(std::filesystem::path(installed->install_dir) / "remotemacd"));
}

TEST_F(InstallTest, RemovalNamesWhatCouldNotBeDeleted) {
  const auto payload = find_payload(m_folder / "bin" / "remotemac", "Linux", "x86_64");
  ASSERT_TRUE(payload);
  const auto installed = install_on_host(m_transport, m_probe, *payload, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(installed);
  std::filesystem::create_directories(std::filesystem::path(installed->install_dir) / "remotemac-worker-in-the-way"); // our name, but rm -f deletes no folder
  const auto removed = remove_from_host(m_transport, installed->install_dir, installed->state_dir);
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code(), ErrorCode::setup);
  EXPECT_NE(removed.error().message().find("remotemac-worker-in-the-way"), std::string::npos) << removed.error().message();
}

TEST_F(InstallTest, ProgramsForAnotherSystemAreNotInstalled) {
  const std::filesystem::path folder = m_folder / "libexec" / "remotemac" / "Darwin-arm64";
  std::filesystem::create_directories(folder);
  std::string elf("\x7f" "ELF", 4);
  elf.resize(64, '\0');
  elf[18] = 62;
  ASSERT_TRUE(m_disk.write_atomic(folder / "remotemacd", elf, 0755));
  const auto wrong = find_payload(m_folder / "bin" / "remotemac", "Darwin", "arm64");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("is a program for Linux x86_64, not for Darwin arm64"), std::string::npos) << wrong.error().message();
  std::string mach("\xcf\xfa\xed\xfe\x0c\x00\x00\x01", 8);
  mach.resize(64, '\0');
  ASSERT_TRUE(m_disk.write_atomic(folder / "remotemacd", mach, 0755));
  EXPECT_TRUE(find_payload(m_folder / "bin" / "remotemac", "Darwin", "arm64"));
}

const CheckResult* named(const std::vector<CheckResult>& checks, std::string_view name) {
  const auto it = std::find_if(checks.begin(), checks.end(), [&](const CheckResult& each) { return each.name == name; });
  return it == checks.end() ? nullptr : &*it;
}

TEST_F(InstallTest, DoctorSaysThatThereIsNothingForARealMac) {
  const auto checks = check_payloads(m_folder / "bin" / "remotemac", {});
  const CheckResult* mac = named(checks, "programs for Darwin arm64");
  ASSERT_NE(mac, nullptr);
  EXPECT_EQ(mac->status, CheckStatus::warning);
  EXPECT_NE(mac->hint.find("libexec/remotemac/Darwin-arm64"), std::string::npos);
  const PayloadSystem own = own_system();
  const CheckResult* here = named(checks, "programs for " + own.system + " " + own.machine);
  ASSERT_NE(here, nullptr);
  EXPECT_EQ(here->status, CheckStatus::good);
}

TEST_F(InstallTest, DoctorLooksAtEachPayloadAndEachHost) {
  const std::filesystem::path folder = m_folder / "libexec" / "remotemac" / "Darwin-arm64";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(m_disk.write_atomic(folder / "remotemacd", "daemon", 0755));
  const std::filesystem::path program = m_folder / "bin" / "remotemac";
  EXPECT_EQ(named(check_payloads(program, {}), "programs for Darwin arm64")->status, CheckStatus::warning) << "no worker";
  ASSERT_TRUE(m_disk.write_atomic(folder / "remotemac-worker", "worker", 0755));
  const auto payload = find_payload(program, "Darwin", "arm64");
  ASSERT_TRUE(payload);
  HostRecord local;
  local.name = "local";
  HostRecord current;
  current.name = "current";
  current.destination = "me@mini";
  current.system = "Darwin";
  current.machine = "arm64";
  current.install_dir = "/Users/me/Library/Application Support/remotemac/" + payload->version_name;
  HostRecord old = current;
  old.name = "old";
  old.install_dir = "/Users/me/Library/Application Support/remotemac/0.0.9-0123456789ab";
  HostRecord strange = current;
  strange.name = "strange";
  strange.machine = "riscv64";
  const auto checks = check_payloads(program, {local, current, old, strange});
  EXPECT_EQ(named(checks, "programs for Darwin arm64")->status, CheckStatus::good);
  EXPECT_EQ(named(checks, "programs for host local"), nullptr);
  EXPECT_EQ(named(checks, "programs for host current")->status, CheckStatus::good);
  EXPECT_EQ(named(checks, "programs for host old")->status, CheckStatus::warning);
  EXPECT_EQ(named(checks, "programs for host old")->hint, "remotemac host add old me@mini --replace");
  EXPECT_EQ(named(checks, "programs for host strange")->status, CheckStatus::warning);
  EXPECT_NE(named(checks, "programs for host strange")->hint.find("Darwin-riscv64"), std::string::npos);
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
