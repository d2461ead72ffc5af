#include "cli/init_scan.h"
#include "cli/job_plan.h"
#include "cli/run_store.h"
#include "common/toml_file.h"
#include "common/digest.h"
#include "policies/gate.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {

class RunStoreTest : public ::testing::Test {
protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() / ("rm-runs-" + random_hex(6));
    std::filesystem::create_directories(m_folder);
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((m_folder / name).parent_path());
    ASSERT_TRUE(m_disk.write_atomic(m_folder / name, text, 0644));
  }
  std::filesystem::path m_folder;
  PosixFileSystem m_disk;
};

TEST_F(RunStoreTest, RunsAreListedNewestFirstAndIgnoredByGit) {
  auto store = RunStore::open(m_folder);
  ASSERT_TRUE(store);
  auto older = store->create(RunKind::run, "mini1", "2026-12-01T01:02:03.456Z");
  auto newer = store->create(RunKind::run, "mini1", "2026-12-01T01:02:04.000Z");
  ASSERT_TRUE(older && newer);
  newer->state = "judged";
  newer->parts["survey"] = {{"x", 1}};
  ASSERT_TRUE(store->save(*newer));
  const auto runs = store->list(RunKind::run);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].id, newer->id);
  EXPECT_EQ(runs[0].state, "judged");
  EXPECT_EQ(runs[0].parts["survey"]["x"], 1);
  EXPECT_TRUE(store->list(RunKind::reference).empty());
  EXPECT_TRUE(m_disk.exists(m_folder / ".remotemac" / ".gitignore"));
}

TEST_F(RunStoreTest, TwoRunsWithinASecondAreInOrderToo) {
  auto store = RunStore::open(m_folder);
  ASSERT_TRUE(store);
  for (int i = 0; i < 20; ++i) // their random ends would put them in order one time in 20!
    ASSERT_TRUE(store->create(RunKind::run, "mini" + std::to_string(i), "2026-12-01T01:02:03.4" + std::to_string(10 + i) + "Z"));
  const auto runs = store->list(RunKind::run);
  ASSERT_EQ(runs.size(), 20u);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(runs[static_cast<std::size_t>(i)].host, "mini" + std::to_string(19 - i));
}

TEST_F(RunStoreTest, AStrangersIdIsRefused) {
  auto store = RunStore::open(m_folder);
  ASSERT_TRUE(store);
  for (const char* id : {"", "../../etc", "a/b", "UPPER"}) {
    const auto info = store->load(RunKind::run, id);
    ASSERT_FALSE(info) << id;
    EXPECT_EQ(info.error().code(), ErrorCode::no_run);
  }
}

TEST_F(RunStoreTest, TheJobIndexFindsTheNewestEntry) {
  const Paths paths{m_folder, m_folder, m_folder};
  const std::string job = new_job_id();
  EXPECT_FALSE(find_job(paths, job));
  ASSERT_TRUE(remember_job(paths, {job, "mini1", m_folder, "r1", RunKind::run}));
  ASSERT_TRUE(remember_job(paths, {job, "mini2", m_folder, "r2", RunKind::reference}));
  const auto place = find_job(paths, job);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->host, "mini2");
  EXPECT_EQ(place->kind, RunKind::reference);
}

TEST_F(RunStoreTest, InitFindsEntriesRequirementsAndDataAndAllowsNothing) {
  write("train.py", "if __name__ == \"__main__\":\n  pass\n");
  write("lib/helper.py", "x = 1\n");
  write("requirements.txt", "torch\n");
  write("data/a.csv", "1,2\n");
  write("data/sub/b.csv", "1,2\n");
  write(".git/config", "secret\n");
  const auto scan = scan_for_init(m_folder);
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->entries, (std::vector<std::string>{"train.py"}));
  EXPECT_EQ(scan->requirements, (std::vector<std::string>{"requirements.txt"}));
  ASSERT_EQ(scan->data.size(), 1u);
  EXPECT_EQ(scan->data[0].path, "data");
  EXPECT_EQ(scan->data[0].files, 2u);
  const auto draft = parse_toml(draft_project_file(*scan), "remotemac.toml");
  ASSERT_TRUE(draft) << draft.error().chain();
  EXPECT_EQ(draft->find("data"), nullptr) << "a draft must not declare anything";
  EXPECT_EQ(draft->find("run")->find("command")->items.at(0).text, "train.py");
}

TEST(JobPlan, ARunHasItsStepsInOrderAndAsksForWhatTheyLeave) {
  ProjectFile project;
  project.name = "p";
  project.command = {"train.py"};
  project.outputs = {*RelPath::create("m.json")};
  HostRecord host;
  host.name = "mini1";
  const JobSpec spec = plan_run(project, host, sha256(std::string_view("x")), WithReplay::yes);
  std::vector<std::string> names;
  for (const JobStep& step : spec.steps)
    names.push_back(step.name);
  EXPECT_EQ(names, (std::vector<std::string>{"backend", "battery", "replay", "strict", "permissive"}));
  const auto wanted = names_to_collect(spec);
  EXPECT_NE(std::find(wanted.begin(), wanted.end(), "outputs/strict/m.json"), wanted.end());
  EXPECT_NE(std::find(wanted.begin(), wanted.end(), "evidence/battery.json"), wanted.end());
  const auto back = job_spec_from_json(to_json(spec));
  ASSERT_TRUE(back) << back.error().chain();
  EXPECT_EQ(back->steps.size(), 5u);
  EXPECT_EQ(plan_run(project, host, sha256(std::string_view("x")), WithReplay::no).steps.size(), 4u);
}

TEST(JobPlan, WhatAPersonWroteIsInTheTextThatIsInspected) {
  ProjectFile project;
  project.name = "p";
  project.command = {"train.py", "--token", "value-on-the-command-line"};
  project.env["SETTING"] = "value-in-the-environment";
  const std::string text = outgoing_text(plan_reference(project, HostRecord{}, Digest{}));
  EXPECT_NE(text.find("value-on-the-command-line"), std::string::npos);
  EXPECT_NE(text.find("value-in-the-environment"), std::string::npos);
  EXPECT_TRUE(policies::judge_text("the run", text).allowed);
}

TEST(JobPlan, SecretsWithoutQuotesAreFound) {
  const auto allowed = [](const ProjectFile& project) { return policies::judge_text("the run", outgoing_text(plan_reference(project, HostRecord{}, Digest{}))).allowed; };
  ProjectFile variable;
  variable.env["WANDB_API_KEY"] = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
  EXPECT_FALSE(allowed(variable));
  ProjectFile argument;
  argument.command = {"train.py", "--api-key", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"};
  EXPECT_FALSE(allowed(argument));
  argument.command = {"train.py", "--password=Tr0ub4dor3xyz"};
  EXPECT_FALSE(allowed(argument));
  ProjectFile path;
  path.requirements = {*RelPath::create("erika@uni-musterstadt.de/requirements.txt")};
  EXPECT_FALSE(allowed(path));
}

TEST(JobPlan, ARefusalNamesThePlaceAndNothingOfTheValue) {
  ProjectFile project;
  project.name = "p";
  project.command = {"train.py", "--epochs", "3"};
  EXPECT_TRUE(judge_outgoing(project).allowed);
  project.env["EPOCHS"] = "3";
  project.env["WANDB_API_KEY"] = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
  OutgoingVerdict verdict = judge_outgoing(project);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_NE(verdict.reason.find("[run] env WANDB_API_KEY"), std::string::npos) << verdict.reason;
  EXPECT_EQ(verdict.reason.find("0a1b2c3d"), std::string::npos);
  EXPECT_FALSE(verdict.kinds.empty());
  EXPECT_EQ(verdict.kinds.find("WANDB"), std::string::npos) << "the audit log holds kinds and counts";
  project.env.clear();
  project.command = {"train.py", "--api-key", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"};
  verdict = judge_outgoing(project);
  EXPECT_NE(verdict.reason.find("[run] command, item 3"), std::string::npos) << verdict.reason;
  project.command = {"train.py"};
  project.env["erika@uni-musterstadt.de"] = "1";
  verdict = judge_outgoing(project);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.reason.find("erika"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("entry 1"), std::string::npos) << verdict.reason;
}

} // namespace
} // namespace remotemac::cli
