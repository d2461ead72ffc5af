#include "common/job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace remotemac {
namespace {
using nlohmann::json;

JobSpec sample() {
  JobSpec spec;
  spec.project = "digits";
  spec.snapshot = sha256(std::string_view("snapshot"));
  spec.environment.requirements.push_back(*RelPath::create("requirements.txt"));
  JobStep run;
  run.name = "mini-run";
  run.mode = "mini-run";
  run.device = "mps";
  run.fallback = "strict";
  run.record = true;
  run.argv = {"train.py", "--epochs", "1"};
  run.outputs.push_back(*RelPath::create("out/metrics.json"));
  run.env = {{"SEED", "1"}};
  JobStep battery;
  battery.name = "battery";
  battery.kind = StepKind::worker;
  battery.task = "battery";
  battery.device = "mps";
  battery.profile = "standard";
  spec.steps = {run, battery};
  return spec;
}

void expect_refused(const json& value, const std::string& word) {
  const Result<JobSpec> out = job_spec_from_json(value);
  ASSERT_FALSE(out.has_value()) << value.dump();
  EXPECT_NE(out.error().chain().find(word), std::string::npos) << out.error().chain();
}

TEST(JobSpec, GoesThroughJsonUnchanged) {
  const json value = to_json(sample());
  const Result<JobSpec> back = job_spec_from_json(value);
  ASSERT_TRUE(back.has_value()) << back.error().chain();
  EXPECT_EQ(to_json(*back), value);
  EXPECT_EQ(back->steps[0].argv, sample().steps[0].argv);
  EXPECT_EQ(back->steps[1].profile, "standard");
}

TEST(JobSpec, EachBadFieldIsRefused) {
  const json good = to_json(sample());
  const auto with = [&](const char* pointer, const json& value) {
    json out = good;
    out[json::json_pointer(pointer)] = value;
    return out;
  };
  expect_refused(with("/version", 2), "version");
  expect_refused(with("/project", ""), "project name");
  expect_refused(with("/project", "a\x1b"), "project name");
  expect_refused(with("/project", std::string(201, 'p')), "project name");
  expect_refused(with("/snapshot", "zz"), "digest");
  expect_refused(with("/environment/requirements", json::array({"../x"})), "'..'");
  expect_refused(with("/environment/requirements", json::array({3})), "not text");
  expect_refused(with("/steps", json::array()), "1 to 64");
  expect_refused(with("/steps", json::object()), "1 to 64");
  expect_refused(with("/steps/0/name", "Bad Name"), "name");
  expect_refused(with("/steps/0/name", std::string(33, 'a')), "name");
  expect_refused(with("/steps/1/name", "mini-run"), "two steps");
  expect_refused(with("/steps/0/device", "tpu"), "device");
  expect_refused(with("/steps/0/kind", "shell"), "kind");
  expect_refused(with("/steps/0/mode", "x"), "mode");
  expect_refused(with("/steps/0/fallback", "x"), "fallback");
  expect_refused(with("/steps/0/argv", json::array()), "without a command");
  expect_refused(with("/steps/0/argv", json::array({std::string("a\0b", 3)})), "NUL");
  expect_refused(with("/steps/0/argv", json::array({std::string(65537, 'a')})), "too long");
  expect_refused(with("/steps/0/argv", json(std::vector<std::string>(1001, "a"))), "too long");
  expect_refused(with("/steps/0/outputs", json::array({"/etc"})), "absolute");
  expect_refused(with("/steps/0/env", json{{"A=B", "1"}}), "variable");
  expect_refused(with("/steps/0/env", json{{"", "1"}}), "variable");
  expect_refused(with("/steps/0/env", json{{"A", 1}}), "variable");
  expect_refused(with("/steps/1/task", "x"), "task");
  expect_refused(with("/steps/1/profile", "x"), "profile");
  expect_refused(with("/steps/1/recording", "../x"), "'..'");
  expect_refused(json(), "version");
}

TEST(JobSpec, StepCountCapHoldsAtItsEdge) {
  json value = to_json(sample());
  const json step = value["steps"][1];
  value["steps"] = json::array();
  for (int i = 0; i < 64; ++i) {
    value["steps"].push_back(step);
    value["steps"].back()["name"] = "s" + std::to_string(i);
  }
  EXPECT_TRUE(job_spec_from_json(value).has_value());
  value["steps"].push_back(step);
  expect_refused(value, "1 to 64");
}

TEST(JobSpec, HostileNumbersAreBounded) {
  json value = to_json(sample());
  value["keep_s"] = INT64_MAX;
  value["limits"]["wall_s"] = -5;
  const Result<JobSpec> spec = job_spec_from_json(value);
  ASSERT_TRUE(spec.has_value());
  EXPECT_LE(spec->keep_s, 366U * 24 * 3600);
  EXPECT_EQ(spec->limits.wall_s, JobLimits().wall_s);
}

TEST(JobRecord, GoesThroughJsonUnchanged) {
  JobRecord record;
  record.job = new_job_id();
  record.project = "digits";
  record.snapshot = sha256(std::string_view("s")).hex();
  record.state = JobState::timed_out;
  record.submitted = "2026-12-01T00:00:00.000Z";
  record.environment = EnvironmentRecord{"key", true, 1.5, "python3", "2.9.0", 77};
  record.environment_removed = {{"PYTORCH_ENABLE_MPS_FALLBACK", "1"}};
  StepRecord step;
  step.name = "battery";
  step.signal = 9;
  step.max_rss_bytes = 1000;
  record.steps.push_back(step);
  const json value = to_json(record);
  const Result<JobRecord> back = job_record_from_json(value);
  ASSERT_TRUE(back.has_value()) << back.error().chain();
  EXPECT_EQ(to_json(*back), value);
  EXPECT_FALSE(back->steps[0].exit_code.has_value());
  EXPECT_EQ(back->steps[0].signal, 9);
}

TEST(JobRecord, ForeignTextIsCleanedAndCounted) {
  json steps = json::array();
  for (int i = 0; i < 100; ++i)
    steps.push_back({{"name", "\x1b[2J"}, {"signal", "nine"}});
  json removed = json::object();
  for (int i = 0; i < 600; ++i)
    removed["V" + std::to_string(i)] = "x\r";
  const json value{{"job", "jabcdefghijkl"}, {"state", "running"}, {"reason", "\x1b]0;title\x07"}, {"steps", steps}, {"environment_removed", removed}, {"environment", 3}};
  const Result<JobRecord> record = job_record_from_json(value);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->reason, "?]0;title?");
  EXPECT_EQ(record->steps.size(), 64U);
  EXPECT_EQ(record->steps[0].name, "?[2J");
  EXPECT_EQ(record->environment_removed.size(), 500U);
  EXPECT_EQ(record->environment_removed.begin()->second, "x?");
  EXPECT_FALSE(record->environment.has_value());
  EXPECT_FALSE(job_record_from_json({{"job", "../x"}, {"state", "running"}}).has_value());
  EXPECT_FALSE(job_record_from_json({{"job", "jabcdefghijkl"}, {"state", "new"}}).has_value());
}

TEST(JobState, NamesGoBothWays) {
  const std::set<std::string_view> final_states{"succeeded", "failed", "timed-out", "cancelled", "lost"};
  for (const char* name : {"queued", "preparing", "running", "succeeded", "failed", "timed-out", "cancelled", "lost"}) {
    const auto state = state_from_name(name);
    ASSERT_TRUE(state.has_value()) << name;
    EXPECT_EQ(state_name(*state), name);
    EXPECT_EQ(is_final(*state), final_states.contains(name)) << name;
  }
  EXPECT_FALSE(state_from_name("Running").has_value());
}

TEST(JobId, IsMadeAsItIsRecognised) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string id = new_job_id();
    EXPECT_TRUE(is_job_id(id)) << id;
    EXPECT_TRUE(seen.insert(id).second);
  }
  for (const char* bad : {"", "j", "jabcdefghijk", "jabcdefghijklm", "kabcdefghijkl", "jABCDEFGHIJKL", "jabcdefghijk1", "jabcdefghij/."})
    EXPECT_FALSE(is_job_id(bad)) << bad;
}

} // namespace
} // namespace remotemac
