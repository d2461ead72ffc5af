// What is written is read back the same, through text, with every member set.
#include "common/evidence.h"
#include "common/json.h"
#include "evidence_case.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace remotemac {
namespace {

using nlohmann::json;

json through_text(const Evidence& evidence) {
  const Result<json> parsed = parse_json(dump_json(to_json(evidence)), "the evidence");
  EXPECT_TRUE(parsed.has_value());
  return *parsed;
}

Evidence full() {
  Evidence e = testing::everything_shown();
  testing::need_fallback(e);
  e.project.scale = "real";
  HarnessDocument& run = *e.strict;
  run.packages = {{"torch", "2.15.0"}};
  run.environment.before = {{"PYTORCH_ENABLE_MPS_FALLBACK", "1"}};
  run.environment.after = {{"PYTORCH_ENABLE_MPS_FALLBACK", "0"}};
  run.environment.changed_by_project = {{"OMP_NUM_THREADS", "2"}};
  run.memory.samples = {{1, 100}, {2, 110}};
  run.conditions = RunConditions{{{"torch.manual_seed", "0"}}, "float32", "highest", false, true, std::nullopt,
                                 {{"mps", "float16"}},         false,     {64},      {0},   4,    {"cpu", "mps"}};
  run.outputs = {{"metrics.json", 12, "ab"}};
  run.missing_outputs = {"b.npy"};
  run.notes = {"a note"};
  run.signatures = 7;
  e.battery->findings[0].error = NumericError{0.5, std::nullopt, 1e-7, Band::relaxed, 3, 10};
  e.survey->requirements = {{"torch", "==2.15.0", "", {"x"}, "index", "", "", "pip", "requirements.txt", 1, false}};
  SurveyPackage package;
  package.name = "cupy";
  package.package_class = PackageClass::replaceable;
  package.effort = Effort::days;
  package.declared = {{"requirements.txt", 2, "pip", Reach::reached}};
  e.survey->packages = {package};
  e.survey->signals = {{"x", Severity::fix, "a.py", 3, "torch.cuda.synchronize()", Reach::maybe, true, "effect", "instead"}};
  e.survey->modules = {{"numpy", Reach::reached, "plain", "a.py", 1, 2}};
  e.survey->not_surveyed = {{"b.py", "it does not parse"}};
  e.gate->classes = {{"code", 3, 100}};
  e.gate->rules = {{"forbid-git", "built-in", "refused", 2}};
  e.gate->layers = {"built-in"};
  e.comparison->conditions[0].note = "note";
  e.comparison->outputs[0].max_abs = 0.25;
  e.reference->host_facts = e.host;
  e.reference->job = e.job;
  e.broke_off = BrokeOff{"job", "lost", "why", "hint"};
  e.absent = {{"replay", "no worker"}};
  return e;
}

TEST(EvidenceRoundTrip, EveryPartSurvives) {
  const Evidence before = full();
  const json first = through_text(before);
  const Result<Evidence> after = evidence_from_json(first);
  ASSERT_TRUE(after) << after.error().chain();
  EXPECT_EQ(to_json(*after), first) << json::diff(first, to_json(*after)).dump(1);
  EXPECT_EQ(after->strict->conditions->seeds, before.strict->conditions->seeds);
  EXPECT_EQ(after->strict->unsupported[0].op, "aten::special_erfcx");
  EXPECT_EQ(after->strict->memory.samples[1].device_bytes, 110u);
  EXPECT_EQ(after->battery->findings[0].error->band, Band::relaxed);
  EXPECT_EQ(after->survey->packages[0].package_class, PackageClass::replaceable);
  EXPECT_EQ(after->reference->run->device_use.at("cuda").operations, 900u);
  EXPECT_EQ(after->broke_off->hint, "hint");
  EXPECT_TRUE(after->transfer->audited);
}

TEST(EvidenceRoundTrip, WhatIsMissingStaysMissing) {
  const Result<Evidence> after = evidence_from_json(through_text(Evidence{}));
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->survey || after->gate || after->host || after->transfer || after->job || after->backend || after->battery ||
               after->replay);
  EXPECT_FALSE(after->strict || after->permissive || after->reference || after->comparison || after->broke_off);
}

TEST(EvidenceRoundTrip, NumbersThatAreNoneBecomeNull) {
  Evidence e = testing::everything_shown();
  e.strict->timing.wall_s = std::numeric_limits<double>::quiet_NaN();
  e.strict->timing.step_median_s = std::numeric_limits<double>::infinity();
  const json written = to_json(e);
  EXPECT_TRUE(written["strict"]["timing"]["wall_s"].is_null());
  EXPECT_TRUE(written["strict"]["timing"]["step_median_s"].is_null());
  const Result<Evidence> after = evidence_from_json(through_text(e));
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->strict->timing.step_median_s);
}

template <typename E> void all_names_differ(int last) {
  std::set<std::string_view> seen;
  for (int i = 0; i <= last; ++i) {
    const std::string_view name = name_of(static_cast<E>(i));
    EXPECT_FALSE(name.empty()) << i;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
  EXPECT_EQ(name_of(static_cast<E>(last + 1)), "");
}

TEST(EvidenceRoundTrip, EveryEnumeratorHasAName) {
  all_names_differ<OutcomeStatus>(static_cast<int>(OutcomeStatus::not_run));
  all_names_differ<OperationKind>(static_cast<int>(OperationKind::fallback));
  all_names_differ<GroupStatus>(static_cast<int>(GroupStatus::not_run));
  all_names_differ<FindingStatus>(static_cast<int>(FindingStatus::hang));
  all_names_differ<ReplayStatus>(static_cast<int>(ReplayStatus::not_tested));
  all_names_differ<Band>(static_cast<int>(Band::outside));
  all_names_differ<ConditionStatus>(static_cast<int>(ConditionStatus::missing));
  all_names_differ<ConditionWeight>(static_cast<int>(ConditionWeight::noted));
  all_names_differ<OutputStatus>(static_cast<int>(OutputStatus::not_compared));
  all_names_differ<Alikeness>(static_cast<int>(Alikeness::unknown));
  all_names_differ<PackageClass>(static_cast<int>(PackageClass::portable));
  all_names_differ<Effort>(static_cast<int>(Effort::rewrite));
  all_names_differ<Reach>(static_cast<int>(Reach::unknown));
  all_names_differ<Severity>(static_cast<int>(Severity::blocks));
  all_names_differ<Need>(static_cast<int>(Need::unknown));
}

} // namespace
} // namespace remotemac
