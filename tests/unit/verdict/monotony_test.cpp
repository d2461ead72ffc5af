// Removing evidence never raises the class: nothing that is missing counts as passing.
#include "cli/verdict/verdict.h"
#include "evidence_case.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace remotemac::verdict {
namespace {

using testing::removable_parts;

// Faults of every kind, so that a part may be the one that carries the bad news.
const std::vector<std::function<void(Evidence&)>>& faults() {
  static const std::vector<std::function<void(Evidence&)>> list{
      testing::end_at_float64,
      testing::need_fallback,
      [](Evidence& e) { e.strict->outcome = {OutcomeStatus::exit, 3, std::nullopt}; },
      [](Evidence& e) { e.permissive->outcome = {OutcomeStatus::exit, 3, std::nullopt}; },
      [](Evidence& e) { e.strict->device_use = {{"cpu", {10, 1, 1}}}; },
      [](Evidence& e) { e.permissive->partial = true; },
      [](Evidence& e) { e.permissive->simulated.value = true; },
      [](Evidence& e) { e.strict->simulated.value.reset(); },
      [](Evidence& e) { e.backend->backend.usable = false; },
      [](Evidence& e) { e.strict->platform.virtual_machine = true; },
      [](Evidence& e) { e.host->virtual_machine = true; },
      [](Evidence& e) { e.battery->groups[0].status = GroupStatus::hang; },
      [](Evidence& e) { e.battery->findings[0].status = FindingStatus::crash; },
      [](Evidence& e) { e.replay->replay[0].status = ReplayStatus::unsupported; },
      [](Evidence& e) { e.replay->replay[1].status = ReplayStatus::not_tested; },
      [](Evidence& e) { e.gate->retention_s = 0; },
      [](Evidence& e) { e.transfer->audited = false; },
      [](Evidence& e) { e.job->state = JobState::timed_out; },
      [](Evidence& e) { e.reference->run->device_use = {{"cpu", {10, 1, 1}}}; },
      [](Evidence& e) {
        if (e.comparison)
          e.comparison->outputs[0].status = OutputStatus::outside;
      },
      [](Evidence& e) {
        if (e.comparison)
          e.comparison->alikeness = Alikeness::unlike;
      },
      [](Evidence& e) { e.project.purpose = "cuda-extensions"; },
      [](Evidence& e) { e.project.purpose = "long-training"; },
      [](Evidence& e) {
        SurveyPackage package;
        package.name = "cupy";
        package.modules = {"cupy"};
        package.package_class = PackageClass::blocks;
        package.need = Need::needed;
        e.survey->packages.push_back(package);
      },
      [](Evidence& e) { e.survey->not_surveyed.push_back({"a.py", "it does not parse"}); },
      [](Evidence& e) { e.strict->memory.slope_bytes_per_step = 1e7; },
      [](Evidence& e) { e.permissive->unsupported = {{"aten::x", "no float64", "a.py", 1}}; },
  };
  return list;
}

TEST(Monotony, RemovingAPartNeverRaisesTheClass) {
  const char* given = std::getenv("RM_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "seed " << seed << " (set RM_TEST_SEED to repeat)\n";
  std::mt19937_64 random(seed);
  const auto below = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int round = 0; round < 400; ++round) {
    Evidence evidence = below(2) == 0 ? testing::everything_shown() : testing::digits_on_stand_in();
    std::string made;
    for (std::size_t n = below(4); n > 0; --n) {
      const std::size_t fault = below(faults().size());
      faults()[fault](evidence);
      made += " fault" + std::to_string(fault);
    }
    Class before = judge(evidence).classification;
    for (std::size_t n = 1 + below(6); n > 0; --n) {
      const testing::Part& part = removable_parts()[below(removable_parts().size())];
      part.remove(evidence);
      made += " -" + part.name;
      const Class after = judge(evidence).classification;
      ASSERT_LE(after, before) << "round " << round << ":" << made;
      before = after;
    }
  }
}

TEST(Monotony, EachPartAloneIsNeededForSuitable) {
  for (const testing::Part& part : removable_parts()) {
    Evidence evidence = testing::everything_shown();
    part.remove(evidence);
    EXPECT_LT(judge(evidence).classification, Class::suitable) << part.name;
  }
}

} // namespace
} // namespace remotemac::verdict
