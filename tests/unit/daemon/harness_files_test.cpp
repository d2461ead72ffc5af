// The harness on the host: one folder per content, there whole or not at all, and never used with anything else in it.
#include "daemon/step_runner.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/daemon/failing_disk.h"

#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;
constexpr std::size_t k_changes = 20; // more than an installation makes

class HarnessFilesTest : public testing::Test {
protected:
  const std::vector<embedded::File> m_files{{"__init__.py", ""}, {"__main__.py", "import sys\n"}, {"cli.py", "main = None\n"}};
  test::TempDir m_dir;
  FailingDisk m_disk;

  Result<fs::path> install() { return install_harness(m_disk, m_dir / "harness", m_files); }

  // Nothing at all, or exactly the files.
  void expect_whole_or_absent(const fs::path& main) {
    const fs::path package = main.parent_path();
    if (!m_disk.exists(package.parent_path()))
      return;
    EXPECT_EQ(m_disk.list(package.parent_path()).value().size(), 1U);
    expect_files(package);
  }
  void expect_files(const fs::path& package) {
    const auto there = m_disk.list(package);
    ASSERT_TRUE(there.has_value());
    ASSERT_EQ(there->size(), m_files.size());
    for (const embedded::File& file : m_files) {
      EXPECT_EQ(m_disk.read_file(package / file.name, 1000).value_or("missing"), file.text) << file.name;
      struct stat info {};
      ASSERT_EQ(::stat((package / file.name).c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 0777U, 0400U) << file.name;
    }
  }
};

TEST_F(HarnessFilesTest, IsWrittenOnceAndUsedAgain) {
  const Result<fs::path> main = install();
  ASSERT_TRUE(main.has_value()) << main.error().chain();
  EXPECT_EQ(main->filename(), "__main__.py");
  EXPECT_EQ(main->parent_path().filename(), "remotemac_harness");
  expect_files(main->parent_path());
  EXPECT_EQ(m_disk.list(m_dir / "harness").value().size(), 1U);
  m_disk.fail_at(1, FailingDisk::Then::stays_dead);
  const Result<fs::path> again = install();
  ASSERT_TRUE(again.has_value()) << again.error().chain();
  EXPECT_EQ(*again, *main);
  EXPECT_EQ(m_disk.count(), 0U);
}

TEST_F(HarnessFilesTest, OtherFilesHaveAnotherFolder) {
  const Result<fs::path> main = install();
  ASSERT_TRUE(main.has_value());
  std::vector<embedded::File> other = m_files;
  other[2].text = "main = 1\n";
  const Result<fs::path> changed = install_harness(m_disk, m_dir / "harness", other);
  ASSERT_TRUE(changed.has_value());
  EXPECT_NE(*changed, *main);
  // The same bytes, cut at another place.
  other = {{"__init__.py", "import sys\n"}, {"__main__.py", ""}, {"cli.py", "main = None\n"}};
  EXPECT_NE(install_harness(m_disk, m_dir / "harness", other).value(), *main);
  expect_files(main->parent_path());
}

TEST_F(HarnessFilesTest, WhatWasChangedIsPutRight) {
  const Result<fs::path> main = install();
  ASSERT_TRUE(main.has_value());
  const fs::path package = main->parent_path();
  const std::vector<std::pair<std::string, std::function<void()>>> damages{
      {"a changed file", [&] { ASSERT_TRUE(m_disk.write_atomic(package / "cli.py", "main = 2222\n", 0400).has_value()); }},
      {"a longer file", [&] { ASSERT_TRUE(m_disk.write_atomic(package / "cli.py", "main = None\n#", 0400).has_value()); }},
      {"a missing file", [&] { ASSERT_TRUE(m_disk.remove_tree(package / "__init__.py").has_value()); }},
      {"a file more", [&] { ASSERT_TRUE(m_disk.write_atomic(package / "cli.so", "", 0600).has_value()); }},
      {"a file for another", [&] { ASSERT_TRUE(m_disk.rename(package / "cli.py", package / "cli.pyc").has_value()); }},
      {"compiled files", [&] { ASSERT_TRUE(m_disk.make_dirs(package / "__pycache__").has_value()); }},
      {"a module above", [&] { ASSERT_TRUE(m_disk.write_atomic(package.parent_path() / "json.py", "", 0600).has_value()); }},
      {"a file for the folder",
       [&] {
         ASSERT_TRUE(m_disk.remove_tree(package.parent_path()).has_value());
         ASSERT_TRUE(m_disk.write_atomic(package.parent_path(), "", 0600).has_value());
       }},
  };
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    damage();
    const Result<fs::path> again = install();
    ASSERT_TRUE(again.has_value()) << again.error().chain();
    EXPECT_EQ(*again, *main);
    expect_whole_or_absent(*main);
    EXPECT_TRUE(m_disk.exists(*main));
  }
}

TEST_F(HarnessFilesTest, AHalfWrittenFolderIsNeverTakenForWhole) {
  const fs::path main = install().value();
  for (const bool damaged : {false, true}) {
    std::size_t at = 1;
    for (; at < k_changes; ++at) {
      SCOPED_TRACE("killed at change " + std::to_string(at));
      ASSERT_TRUE(m_disk.remove_tree(m_dir / "harness").has_value());
      if (damaged) {
        ASSERT_TRUE(m_disk.make_dirs(main.parent_path()).has_value());
        ASSERT_TRUE(m_disk.write_atomic(main, "import sys\n", 0400).has_value());
      }
      m_disk.fail_at(at, FailingDisk::Then::stays_dead);
      const Result<fs::path> killed = install();
      m_disk.fail_at(0, FailingDisk::Then::recovers);
      if (killed)
        break;
      if (!damaged)
        expect_whole_or_absent(main);
      ASSERT_EQ(install().value_or("nothing"), main);
      expect_files(main.parent_path());
      EXPECT_EQ(m_disk.list(m_dir / "harness").value().size(), 1U);
    }
    EXPECT_GT(at, m_files.size());
    EXPECT_LT(at, k_changes);
  }
}

TEST_F(HarnessFilesTest, TheOneInTheProgramHasAStart) {
  const Result<fs::path> main = install_harness(m_disk, m_dir / "harness", embedded::harness());
  ASSERT_TRUE(main.has_value()) << main.error().chain();
  EXPECT_TRUE(m_disk.exists(*main));
  EXPECT_TRUE(m_disk.exists(main->parent_path() / "__init__.py"));
  EXPECT_GT(embedded::harness().size(), 20U);
}

} // namespace
} // namespace remotemac::daemon
