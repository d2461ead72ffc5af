// Evidence in, class and criteria out. Every case changes one thing of evidence that is known.
#include "cli/verdict/verdict.h"

#include "cli/verdict/criteria.h"
#include "evidence_case.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <set>

namespace remotemac::verdict {
namespace {

using testing::everything_shown;
using ::testing::IsEmpty;

std::vector<std::string> reasons(const Verdict& verdict) {
  std::vector<std::string> out;
  for (const Reason& reason : verdict.reasons)
    out.push_back(reason.text);
  return out;
}

struct Case {
  std::string name;
  std::function<void(Evidence&)> change;
  Class classification;
  std::map<std::string, Status> criteria; // of those that the change touches; all others pass
  std::string cause;
};

constexpr Class dev = Class::development_and_test;
constexpr Class cuda = Class::cuda_required;

SurveyPackage package(PackageClass kind, Need need) {
  SurveyPackage out;
  out.name = "flash-attn";
  out.modules = {"flash_attn"};
  out.package_class = kind;
  out.need = need;
  out.alternative = "torch.nn.functional.scaled_dot_product_attention";
  out.effort = Effort::hours;
  out.imported = {{"model.py", 3, "plain", Reach::reached}};
  return out;
}

WorkerFinding failing(const std::string& op) {
  return {"layout.x.transposed", "layout", op, "transposed", FindingStatus::fail, "wrong in 3 of 10 elements", "", std::nullopt};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> table{
      {"all_is_shown", [](Evidence&) {}, Class::suitable, {}, ""},
      {"virtual_machine", [](Evidence& e) { e.host->virtual_machine = true; }, dev, {{"C1", Status::limited}}, "virtual-machine"},
      {"simulated_battery_alone",
       [](Evidence& e) { e.battery->simulated.value = true; },
       dev,
       {{"C1", Status::limited},
        {"C3", Status::limited},
        {"C4", Status::limited},
        {"C9", Status::limited},
        {"C11", Status::limited},
        {"C12", Status::limited}},
       "simulated"},
      {"simulation_not_told",
       [](Evidence& e) { e.strict->simulated.value.reset(); },
       dev,
       {{"C1", Status::not_shown}},
       "simulation-unknown"},
      {"not_a_mac", [](Evidence& e) { e.strict->platform.system = "Linux"; }, dev, {{"C1", Status::fail}}, "not-a-mac"},
      {"macos_too_old_for_torch",
       [](Evidence& e) { e.strict->platform.macos = "13.7"; },
       dev,
       {{"C1", Status::fail}},
       "versions-old"},
      {"host_missing",
       [](Evidence& e) { e.host.reset(); },
       dev,
       {{"C1", Status::not_shown}, {"C12", Status::not_shown}},
       "hardware-unknown"},
      {"chip_unknown", [](Evidence& e) { e.host->chip.clear(); }, dev, {{"C1", Status::not_shown}}, "hardware-unknown"},
      {"survey_missing", [](Evidence& e) { e.survey.reset(); }, dev, {{"C2", Status::not_shown}}, "survey-missing"},
      {"cuda_package_needed",
       [](Evidence& e) { e.survey->packages = {package(PackageClass::blocks, Need::needed)}; },
       dev,
       {{"C2", Status::limited}},
       "packages-open"},
      {"cuda_package_unused",
       [](Evidence& e) { e.survey->packages = {package(PackageClass::blocks, Need::unused)}; },
       Class::suitable,
       {},
       ""},
      {"conditional_package_in_use",
       [](Evidence& e) {
         e.survey->packages = {package(PackageClass::conditional, Need::needed)};
         e.strict->imports.push_back({"flash_attn", "flash-attn", "model.py"});
       },
       Class::suitable,
       {},
       ""},
      {"cuda_extensions_purpose",
       [](Evidence& e) {
         e.project.purpose = "cuda-extensions";
         e.survey->packages = {package(PackageClass::blocks, Need::needed)};
       },
       cuda,
       {{"C2", Status::not_shown}},
       "extensions-open"},
      {"cuda_kernel_reached",
       [](Evidence& e) {
         e.survey->signals = {{"cuda-kernel", Severity::blocks, "k.cu", 4, "__global__", Reach::reached, false, "no CUDA", ""}};
       },
       dev,
       {{"C2", Status::limited}},
       "sources-open"},
      {"cuda_kernel_guarded",
       [](Evidence& e) {
         e.survey->signals = {{"cuda-kernel", Severity::blocks, "k.cu", 4, "__global__", Reach::reached, true, "no CUDA", ""}};
       },
       Class::suitable,
       {},
       ""},
      {"backend_missing", [](Evidence& e) { e.backend.reset(); }, dev, {{"C3", Status::not_shown}}, "backend-unchecked"},
      {"backend_step_fails",
       [](Evidence& e) { e.backend->backend.steps[1].ok = false; },
       dev,
       {{"C3", Status::fail}},
       "backend-unchecked"},
      {"permissive_missing",
       [](Evidence& e) { e.permissive.reset(); },
       dev,
       {{"C4", Status::not_shown}, {"C6", Status::not_shown}},
       "permissive-missing"},
      {"strict_missing",
       [](Evidence& e) { e.strict.reset(); },
       dev,
       {{"C4", Status::not_shown}, {"C6", Status::not_shown}},
       "strict-missing"},
      {"output_not_left",
       [](Evidence& e) { e.strict->missing_outputs = {"metrics.json"}; },
       dev,
       {{"C4", Status::limited}},
       "outputs-missing"},
      {"job_missing", [](Evidence& e) { e.job.reset(); }, dev, {{"C4", Status::not_shown}}, "job-missing"},
      {"parameters_on_cpu",
       [](Evidence& e) { e.strict->parameters = {{"cpu", 100}}; },
       dev,
       {{"C5", Status::fail}},
       "mixed-devices"},
      {"parameters_on_both",
       [](Evidence& e) { e.strict->parameters["cpu"] = 100; },
       dev,
       {{"C5", Status::limited}},
       "mixed-devices"},
      {"fallback_in_strict",
       [](Evidence& e) { e.strict->fallbacks = {{"aten::x", 3, 0.1, 0.5, ""}}; },
       dev,
       {{"C6", Status::limited}},
       "fallback"},
      {"compiled",
       [](Evidence& e) { e.strict->conditions->compile_used = true; },
       dev,
       {{"C6", Status::not_shown}},
       "operations-not-listed"},
      {"refused_and_caught",
       [](Evidence& e) { e.strict->unsupported = {{"aten::x", "not there", "m.py", 3}}; },
       dev,
       {{"C6", Status::limited}},
       "refused-and-caught"},
      {"replay_finds_fallback",
       [](Evidence& e) { e.replay->replay[0].status = ReplayStatus::fallback; },
       dev,
       {{"C6", Status::limited}},
       "fallback"},
      {"replay_refuses_what_the_cpu_does",
       [](Evidence& e) {
         e.replay->replay.push_back({2, "aten::stack", 1, ReplayStatus::unsupported, "", std::nullopt, std::nullopt});
       },
       Class::suitable,
       {},
       ""},
      {"no_reference",
       [](Evidence& e) {
         e.reference.reset();
         e.comparison.reset();
       },
       dev,
       {{"C7", Status::not_shown}, {"C8", Status::not_shown}},
       "no-reference"},
      {"reference_failed",
       [](Evidence& e) { e.reference->run->partial = true; },
       dev,
       {{"C7", Status::not_shown}},
       "no-reference"},
      {"cpu_reference",
       [](Evidence& e) { e.reference->run->device_use = {{"cpu", {900, 40, 1}}}; },
       dev,
       {{"C7", Status::limited}},
       "cpu-reference"},
      {"output_outside",
       [](Evidence& e) {
         e.comparison->outputs[0].status = OutputStatus::outside;
         e.comparison->counts = {{"outside", 1}};
       },
       dev,
       {{"C7", Status::fail}},
       "outputs-differ"},
      {"outputs_outside_in_a_cut_list",
       [](Evidence& e) {
         e.comparison->counts = {{"equal", 1}, {"outside", 7}};
         e.comparison->outputs_total = 8;
       },
       dev,
       {{"C7", Status::fail}},
       "outputs-differ"},
      {"output_relaxed",
       [](Evidence& e) {
         e.comparison->outputs[0].status = OutputStatus::relaxed;
         e.comparison->counts.clear();
       },
       Class::suitable,
       {},
       ""},
      {"nothing_compared",
       [](Evidence& e) {
         e.comparison->outputs.clear();
         e.comparison->counts.clear();
       },
       dev,
       {{"C7", Status::not_shown}},
       "not-compared"},
      {"conditions_unlike",
       [](Evidence& e) {
         e.comparison->conditions[0].status = ConditionStatus::different;
         e.comparison->alikeness = Alikeness::unlike;
       },
       dev,
       {{"C8", Status::fail}},
       "conditions-unlike"},
      {"conditions_not_recorded",
       [](Evidence& e) {
         e.comparison->conditions[0].status = ConditionStatus::missing;
         e.comparison->alikeness = Alikeness::unknown;
       },
       dev,
       {{"C8", Status::not_shown}},
       "conditions-unknown"},
      {"time_not_measured", [](Evidence& e) { e.strict->timing = {}; }, dev, {{"C9", Status::not_shown}}, "time-missing"},
      {"long_training_reduced",
       [](Evidence& e) { e.project.purpose = "long-training"; },
       dev,
       {{"C9", Status::not_shown}, {"C12", Status::not_shown}},
       "scale-reduced"},
      {"long_training_real",
       [](Evidence& e) {
         e.project.purpose = "long-training";
         e.project.scale = "real";
       },
       Class::suitable,
       {},
       ""},
      {"gate_missing", [](Evidence& e) { e.gate.reset(); }, dev, {{"C10", Status::not_shown}}, "gate-missing"},
      {"gate_refuses",
       [](Evidence& e) {
         e.gate->decision = "refused";
         e.gate->refused_files = 2;
       },
       dev,
       {{"C10", Status::fail}},
       "gate-refused"},
      {"retention_open", [](Evidence& e) { e.gate->retention_s = 0; }, dev, {{"C10", Status::not_shown}}, "retention-open"},
      {"transfer_not_audited", [](Evidence& e) { e.transfer->audited = false; }, dev, {{"C10", Status::fail}}, "transfer-open"},
      {"battery_missing", [](Evidence& e) { e.battery.reset(); }, dev, {{"C11", Status::not_shown}}, "battery-incomplete"},
      {"used_operation_is_wrong",
       [](Evidence& e) { e.battery->findings.push_back(failing("aten::add_.Tensor")); },
       dev,
       {{"C11", Status::fail}},
       "numerics-wrong"},
      {"unused_operation_is_wrong",
       [](Evidence& e) { e.battery->findings.push_back(failing("aten::erfinv")); },
       Class::suitable,
       {},
       ""},
      {"battery_group_crashed",
       [](Evidence& e) { e.battery->groups[0].status = GroupStatus::crash; },
       dev,
       {{"C11", Status::not_shown}},
       "battery-incomplete"},
      {"battery_of_another_torch",
       [](Evidence& e) { e.battery->torch_running = "2.14.0"; },
       dev,
       {{"C11", Status::not_shown}},
       "battery-incomplete"},
      {"replay_missing", [](Evidence& e) { e.replay.reset(); }, dev, {{"C11", Status::not_shown}}, "replay-incomplete"},
      {"replay_mismatch",
       [](Evidence& e) { e.replay->replay[1].status = ReplayStatus::mismatch; },
       dev,
       {{"C11", Status::fail}},
       "numerics-wrong"},
      {"memory_full",
       [](Evidence& e) { e.strict->memory.peak_driver_bytes = 15'900'000'000; },
       dev,
       {{"C12", Status::fail}},
       "memory-too-small"},
      {"memory_grows",
       [](Evidence& e) { e.strict->memory.slope_bytes_per_step = 1e6; },
       dev,
       {{"C12", Status::fail}},
       "memory-grows"},
      {"memory_not_measured", [](Evidence& e) { e.strict->memory = {}; }, dev, {{"C12", Status::not_shown}}, "memory-unknown"},
  };
  return table;
}

class VerdictCase : public ::testing::TestWithParam<Case> {};

TEST_P(VerdictCase, GivesTheClassAndTheCriteria) {
  const Case& given = GetParam();
  Evidence evidence = everything_shown();
  given.change(evidence);
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.reached, Reached::yes);
  EXPECT_EQ(name_of(verdict.classification), name_of(given.classification));
  ASSERT_EQ(verdict.criteria.size(), 12u);
  for (const Criterion& each : verdict.criteria) {
    const auto expected = given.criteria.find(std::string(each.id));
    EXPECT_EQ(name_of(each.status), name_of(expected == given.criteria.end() ? Status::pass : expected->second)) << each.id;
    EXPECT_FALSE(each.lines.empty()) << each.id << " says nothing";
  }
  if (given.cause.empty())
    EXPECT_THAT(verdict.reasons, IsEmpty());
  else
    EXPECT_TRUE(std::ranges::any_of(verdict.reasons, [&](const Reason& r) { return r.cause == given.cause; }))
        << ::testing::PrintToString(reasons(verdict));
  EXPECT_FALSE(verdict.next_steps.empty());
  EXPECT_FALSE(verdict.not_shown.empty());
}

INSTANTIATE_TEST_SUITE_P(Table, VerdictCase, ::testing::ValuesIn(cases()), [](const auto& each) { return each.param.name; });

TEST(Verdict, EveryCriterionFlipsInTheTable) {
  std::set<std::string> flipped;
  for (const Case& each : cases()) {
    for (const auto& [id, status] : each.criteria)
      flipped.insert(id);
  }
  EXPECT_EQ(flipped.size(), criteria_table().size());
}

} // namespace
} // namespace remotemac::verdict
