#include "cli/init_scan.h"

#include "policies/glob.h"
#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remotemac::cli {
namespace {
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

InitScan scan_of(const std::vector<std::string>& files) {
  const test::TempDir folder;
  for (const std::string& file : files)
    test::write_file(folder / file, "x\n");
  const Result<InitScan> scan = scan_for_init(folder.path());
  EXPECT_TRUE(scan) << scan.error().chain();
  return scan ? *scan : InitScan();
}

TEST(InitScan, SettingsThatARunReadsAreProposedWithTheSource) {
  const InitScan scan = scan_of({"train.py", "conf/model.yaml", "conf/other.yaml", "setup.cfg", "remotemac.toml", ".pre-commit-config.yaml", ".git/config.ini"});
  EXPECT_THAT(scan.settings, UnorderedElementsAre("conf/*.yaml", "*.cfg"));
  EXPECT_THAT(draft_project_file(scan), HasSubstr("# include = [\"**/*.py\", "));
  EXPECT_THAT(draft_project_file(scan), HasSubstr("\"conf/*.yaml\""));
  EXPECT_TRUE(policies::Glob::create("**/*.py")->matches("train.py")) << "the draft leaves out the files of the project folder itself";
}

TEST(InitScan, ALongListOfSettingsIsCutAndDataAreNoSettings) {
  std::vector<std::string> files{"data/table.csv"};
  for (char folder = 'a'; folder < 'z'; ++folder)
    files.push_back(std::string(1, folder) + "/settings.ini");
  const InitScan scan = scan_of(files);
  EXPECT_EQ(scan.settings.size(), 8u);
  ASSERT_EQ(scan.data.size(), 1u);
  EXPECT_EQ(scan.data[0].path, "data");
  EXPECT_THAT(draft_project_file(scan), HasSubstr("# data: 1 file, "));
}

} // namespace
} // namespace remotemac::cli
