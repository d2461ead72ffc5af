#include "cli/project_file.h"
#include "common/toml_file.h"

#include <gtest/gtest.h>

namespace remotemac::cli {
namespace {

constexpr const char* k_good = R"(
[project]
name = "digits"
purpose = "reproducibility"
[run]
command = ["train.py", "--epochs", "3"]
outputs = ["metrics.json"]
requirements = ["requirements.txt"]
wall_time = "10m"
log_limit = "1MB"
env = { SEED = "1" }
[compare]
tolerance = { "metrics.json:accuracy" = { abs = 0.02 } }
[[data]]
name = "source"
)";

TEST(ProjectFile, ReadsEverything) {
  const auto project = parse_project_file(k_good, "remotemac.toml");
  ASSERT_TRUE(project) << project.error().chain();
  EXPECT_EQ(project->name, "digits");
  EXPECT_EQ(project->purpose, "reproducibility");
  EXPECT_EQ(project->command, (std::vector<std::string>{"train.py", "--epochs", "3"}));
  EXPECT_EQ(project->limits.step_wall_s, 600u);
  EXPECT_EQ(project->limits.log_bytes, 1'000'000u);
  EXPECT_EQ(project->env.at("SEED"), "1");
  EXPECT_DOUBLE_EQ(*project->tolerances.at("metrics.json:accuracy").absolute, 0.02);
  EXPECT_FALSE(project->tolerances.at("metrics.json:accuracy").relative);
}

TEST(ProjectFile, NeedsAProjectTable) {
  const auto project = parse_project_file("[run]\ncommand = [\"x.py\"]\n", "remotemac.toml");
  ASSERT_FALSE(project);
  EXPECT_NE(project.error().message().find("[project] is missing"), std::string::npos);
}

TEST(ProjectFile, PathsOutsideTheProjectAreRefusedWithTheirPlace) {
  for (const char* path : {"../x.json", "/etc/passwd", "a//b", "./x"}) {
    const auto project = parse_project_file("[project]\nname = \"a\"\n[run]\noutputs = [\"" + std::string(path) + "\"]\n", "remotemac.toml");
    ASSERT_FALSE(project) << path;
    EXPECT_NE(project.error().message().find("remotemac.toml:4:"), std::string::npos) << project.error().message();
  }
}

TEST(ProjectFile, MisspeltTablesAndKeysAreErrors) {
  const auto table = parse_project_file("[project]\nname = \"a\"\n[compar]\n", "remotemac.toml");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().hint().find("'compare'"), std::string::npos);
  const auto key = parse_project_file("[project]\nname = \"a\"\n[run]\nwalltime = \"1m\"\n", "remotemac.toml");
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().hint().find("'wall_time'"), std::string::npos);
}

TEST(ProjectFile, NegativeToleranceIsRefused) {
  const auto project = parse_project_file("[project]\nname = \"a\"\n[compare]\ntolerance = { \"m.json:x\" = { abs = -1.0 } }\n", "remotemac.toml");
  ASSERT_FALSE(project);
  EXPECT_NE(project.error().message().find("negative"), std::string::npos);
}

// Every documented key is really read: a document that sets it to a wrong type must be refused at that key.
TEST(ProjectFile, TheReferenceNamesExactlyTheKeysThatAreRead) {
  const std::string reference = project_file_reference();
  for (const char* key : {"name", "purpose"})
    EXPECT_FALSE(parse_project_file("[project]\nname = \"a\"\n[project.x]\n" + std::string(key) + " = []\n", "f"));
  for (const char* key : {"command", "outputs", "requirements", "env", "profile", "wall_time", "job_time", "output_limit", "disk_limit", "log_limit", "keep"}) {
    EXPECT_NE(reference.find("`" + std::string(key) + "`"), std::string::npos) << key;
    const auto project = parse_project_file("[project]\nname = \"a\"\n[run]\n" + std::string(key) + " = false\n", "f");
    ASSERT_FALSE(project) << key;
    EXPECT_NE(project.error().message().find("'" + std::string(key) + "'"), std::string::npos) << project.error().message();
    EXPECT_EQ(project.error().message().find("unknown key"), std::string::npos) << key;
  }
}

} // namespace
} // namespace remotemac::cli
