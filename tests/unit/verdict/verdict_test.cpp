// Whole verdicts: the stand-in, float64, fallbacks, silent runs, broken-off runs; and the names.
#include "cli/verdict/verdict.h"

#include "cli/verdict/criteria.h"
#include "evidence_case.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

namespace remotemac::verdict {
namespace {

using ::testing::AllOf;
using testing::digits_on_stand_in;
using ::testing::ElementsAre;
using testing::end_at_float64;
using testing::everything_shown;
using ::testing::HasSubstr;
using testing::need_fallback;

const Criterion& criterion(const Verdict& verdict, std::string_view id) {
  return *std::ranges::find(verdict.criteria, id, &Criterion::id);
}

std::vector<std::string> reasons(const Verdict& verdict) {
  std::vector<std::string> out;
  for (const Reason& reason : verdict.reasons)
    out.push_back(reason.text);
  return out;
}

constexpr Class dev = Class::development_and_test;
constexpr Class cuda = Class::cuda_required;

SurveyPackage cuda_package() {
  SurveyPackage out;
  out.name = "flash-attn";
  out.modules = {"flash_attn"};
  out.package_class = PackageClass::blocks;
  out.need = Need::needed;
  out.alternative = "torch.nn.functional.scaled_dot_product_attention";
  out.effort = Effort::hours;
  out.imported = {{"model.py", 3, "plain", Reach::reached}};
  return out;
}

TEST(Verdict, DigitsOnTheStandInHasTwoReasons) {
  const Verdict verdict = judge(digits_on_stand_in());
  EXPECT_EQ(verdict_name(verdict), "development-and-test");
  EXPECT_THAT(reasons(verdict), ElementsAre("the backend is simulated", "the reference is CPU, not CUDA"));
  EXPECT_EQ(verdict.next_steps.size(), 2u);
}

TEST(Verdict, Float64IsCudaRequiredWithLineAndOperator) {
  Evidence evidence = digits_on_stand_in();
  end_at_float64(evidence);
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.classification, Class::cuda_required);
  EXPECT_EQ(verdict.ground, Ground::shown_not_to_work);
  ASSERT_FALSE(verdict.reasons.empty());
  EXPECT_EQ(verdict.reasons[0].cause, "float64");
  EXPECT_THAT(verdict.reasons[0].detail, AllOf(HasSubstr("train.py:12"), HasSubstr("aten::_to_copy")));
  EXPECT_EQ(verdict.reasons.size(), 3u) << ::testing::PrintToString(reasons(verdict)); // and the two of the stand-in
  EXPECT_THAT(verdict.reasons[0].criteria, ::testing::Contains("C6"));
  ASSERT_FALSE(verdict.obstacles.empty());
  EXPECT_EQ(verdict.obstacles[0].where, "train.py:12");
  EXPECT_THAT(verdict.obstacles[0].what, AllOf(HasSubstr("float64"), HasSubstr("aten::_to_copy")));
  EXPECT_EQ(criterion(verdict, "C6").status, Status::fail);
}

TEST(Verdict, AFallbackIsNamedWithItsShareOfTime) {
  Evidence evidence = everything_shown();
  need_fallback(evidence);
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.classification, dev);
  const Criterion& operations = criterion(verdict, "C6");
  EXPECT_TRUE(std::ranges::any_of(operations.lines, [](const Line& l) {
    return l.text.find("aten::special_erfcx falls back to the CPU: 50 calls, 25 %") != std::string::npos;
  }));
  EXPECT_EQ(verdict.obstacles[0].where, "model.py:7");
}

TEST(Verdict, AnOperationThatNoFallbackHelpsIsCudaRequired) {
  Evidence evidence = everything_shown();
  need_fallback(evidence);
  evidence.permissive->outcome = evidence.strict->outcome;
  evidence.permissive->unsupported = evidence.strict->unsupported;
  evidence.permissive->fallbacks.clear();
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.classification, cuda);
  EXPECT_EQ(verdict.ground, Ground::shown_not_to_work);
  EXPECT_EQ(verdict.reasons[0].cause, "unsupported");
}

TEST(Verdict, ASilentCpuRunFailsC5) {
  Evidence evidence = everything_shown();
  for (auto* part : {&evidence.strict, &evidence.permissive})
    (*part)->device_use = {{"cpu", {1200, 40, 1}}};
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(criterion(verdict, "C5").status, Status::fail);
  EXPECT_EQ(verdict.classification, cuda);
  EXPECT_EQ(verdict.ground, Ground::not_sufficiently_shown);
  EXPECT_EQ(verdict.reasons[0].cause, "silent-cpu");
}

TEST(Verdict, AMissingCudaPackageIsShownNotToWork) {
  Evidence evidence = everything_shown();
  evidence.survey->packages = {cuda_package()};
  for (auto* part : {&evidence.strict, &evidence.permissive})
    (*part)->outcome = {OutcomeStatus::exception, 1,
                        ExceptionFacts{"ModuleNotFoundError", "No module named 'flash_attn'", "model.py", 3}};
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.classification, cuda);
  EXPECT_EQ(verdict.ground, Ground::shown_not_to_work);
  EXPECT_TRUE(
      std::ranges::any_of(verdict.obstacles, [](const Obstacle& o) { return o.where == "model.py:3" && o.effort == "hours"; }));
}

TEST(Verdict, AProjectThatFailsForItselfIsNotSufficientlyShown) {
  Evidence evidence = everything_shown();
  for (auto* part : {&evidence.strict, &evidence.permissive})
    (*part)->outcome = {OutcomeStatus::exception, 1,
                        ExceptionFacts{"FileNotFoundError", "No such file: data.csv", "train.py", 5}};
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.ground, Ground::not_sufficiently_shown);
  EXPECT_EQ(verdict.reasons[0].cause, "run-failed");
  EXPECT_THAT(verdict.reasons[0].detail, HasSubstr("train.py:5"));
}

TEST(Verdict, NothingAtAllIsCudaRequiredAndPassesNothing) {
  const Verdict verdict = judge(Evidence{});
  EXPECT_EQ(verdict.classification, cuda);
  EXPECT_EQ(verdict.ground, Ground::not_sufficiently_shown);
  for (const Criterion& each : verdict.criteria)
    EXPECT_NE(each.status, Status::pass) << each.id;
}

TEST(Verdict, ARunThatBrokeOffHasNone) {
  Evidence evidence = everything_shown();
  evidence.broke_off = BrokeOff{"job", "lost", "the host was restarted", "run again"};
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.reached, Reached::no);
  EXPECT_EQ(verdict_name(verdict), "no verdict");
  EXPECT_THAT(verdict.why_not, HasSubstr("the host was restarted"));
  EXPECT_TRUE(is_below(verdict, "cuda-required"));
}

TEST(Verdict, BelowMeansWorse) {
  Verdict verdict;
  verdict.classification = dev;
  EXPECT_TRUE(is_below(verdict, "suitable"));
  EXPECT_FALSE(is_below(verdict, "development-and-test"));
  EXPECT_FALSE(is_below(verdict, "cuda-required"));
  EXPECT_TRUE(is_below(verdict, "perfect"));
}

TEST(Verdict, EveryCauseHasWordsAndAllowsLessThanSuitable) {
  std::set<std::string_view> ids;
  for (const CauseRow& row : causes_table()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_LT(row.allows, Class::suitable) << row.id;
    EXPECT_FALSE(row.summary.empty() || row.next_step.empty()) << row.id;
    EXPECT_EQ(row.ground == Ground::none, row.allows != cuda) << row.id;
  }
}

} // namespace
} // namespace remotemac::verdict
