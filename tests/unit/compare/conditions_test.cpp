#include "sides.h"

#include <functional>
#include <gmock/gmock.h>

namespace remotemac::compare {
namespace {
using test::condition;
using test::Sides;
using testing::HasSubstr;

TEST(Conditions, AlikeDocumentsAreAlike) {
  const Comparison comparison = Sides().compare();
  EXPECT_EQ(comparison.alikeness, Alikeness::alike);
  for (const ConditionPair& each : comparison.conditions)
    EXPECT_EQ(each.status, ConditionStatus::same) << each.name << ": " << each.note;
}

struct Flip {
  std::string name;
  ConditionWeight weight;
  std::function<void(Sides&)> change;
};

const std::vector<Flip> k_flips = {
    {"project-files", ConditionWeight::decides, [](Sides& s) { s.input.same_project = false; }},
    {"command", ConditionWeight::decides, [](Sides& s) { s.input.same_command = false; }},
    {"seeds", ConditionWeight::decides, [](Sides& s) { s.run.conditions->seeds = {{"torch.manual_seed", "2"}}; }},
    {"rng-devices", ConditionWeight::decides, [](Sides& s) { s.run.conditions->rng_devices = {"mps"}; }},
    {"default-dtype", ConditionWeight::decides, [](Sides& s) { s.run.conditions->default_dtype = "float64"; }},
    {"matmul-precision", ConditionWeight::decides, [](Sides& s) { s.run.conditions->float32_matmul_precision = "high"; }},
    {"tf32", ConditionWeight::decides, [](Sides& s) { s.reference.conditions->allow_tf32 = true; }},
    {"autocast", ConditionWeight::decides, [](Sides& s) { s.run.conditions->autocast = {{"mps", "float16"}}; }},
    {"batch-sizes", ConditionWeight::decides, [](Sides& s) { s.run.conditions->batch_sizes = {32}; }},
    {"dataloader-workers", ConditionWeight::decides, [](Sides& s) { s.run.conditions->dataloader_workers = {2}; }},
    {"deterministic", ConditionWeight::noted, [](Sides& s) { s.run.conditions->deterministic = true; }},
    {"cudnn-benchmark", ConditionWeight::noted, [](Sides& s) { s.run.conditions->cudnn_benchmark = true; }},
    {"compile", ConditionWeight::noted, [](Sides& s) { s.run.conditions->compile_used = true; }},
    {"threads", ConditionWeight::noted, [](Sides& s) { s.run.conditions->threads = 8; }},
    {"torch-version", ConditionWeight::decides, [](Sides& s) { s.run.torch.version = "2.14.0"; }},
    {"torch-build", ConditionWeight::noted, [](Sides& s) { s.run.torch.git_version = "def"; }},
    {"numpy-version", ConditionWeight::noted, [](Sides& s) { s.run.packages[0].version = "1.26.0"; }},
    {"python-version", ConditionWeight::noted, [](Sides& s) { s.run.python.version = "3.11.0"; }},
    {"environment", ConditionWeight::noted, [](Sides& s) { s.run.environment.after["OMP_NUM_THREADS"] = "1"; }},
};

TEST(Conditions, EachOneThatDiffersIsTheOnlyOneNamed) {
  for (const Flip& flip : k_flips) {
    Sides sides;
    flip.change(sides);
    const Comparison comparison = sides.compare();
    const bool decides = flip.weight == ConditionWeight::decides;
    EXPECT_EQ(comparison.alikeness, decides ? Alikeness::unlike : Alikeness::alike) << flip.name;
    for (const ConditionPair& each : comparison.conditions) {
      EXPECT_EQ(each.status, each.name == flip.name
          ? ConditionStatus::different : ConditionStatus::same) << flip.name << " / " << each.name;
      if (each.name == flip.name) {
        EXPECT_EQ(each.weight, flip.weight) << flip.name;
        EXPECT_FALSE(each.note.empty()) << flip.name;
      }
    }
  }
}

TEST(Conditions, EveryConditionHasAFlipInThisTest) {
  const Comparison comparison = Sides().compare();
  ASSERT_EQ(comparison.conditions.size(), k_flips.size());
  for (std::size_t i = 0; i < k_flips.size(); ++i)
    EXPECT_NE(condition(comparison, k_flips[i].name), nullptr) << k_flips[i].name;
}

TEST(Conditions, WhatDiffersBetweenDevicesByDesignIsNoCondition) {
  Sides sides;
  sides.run.torch.version = "2.15.0";
  sides.reference.torch.version = "2.15.0+cu128";
  sides.run.conditions->autocast = {{"mps", "float16"}};
  sides.reference.conditions->autocast = {{"cuda", "float16"}};
  sides.run.conditions->seeds.push_back({"torch.mps.manual_seed", "1"});
  sides.reference.conditions->seeds.push_back({"torch.cuda.manual_seed_all", "1"});
  sides.run.environment.after["PYTORCH_ENABLE_MPS_FALLBACK"] = "0";
  sides.reference.environment.after["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_EQ(sides.compare().alikeness, Alikeness::alike);
}

TEST(Conditions, OrderOfSeedsAndLoadersDoesNotMatter) {
  Sides sides;
  sides.run.conditions->seeds = {{"random.seed", "3"}, {"torch.manual_seed", "1"}};
  sides.reference.conditions->seeds = {{"torch.manual_seed", "1"}, {"random.seed", "3"}};
  sides.run.conditions->batch_sizes = {64, 256};
  sides.reference.conditions->batch_sizes = {256, 64};
  EXPECT_EQ(sides.compare().alikeness, Alikeness::alike);
}

TEST(Conditions, WhatIsNotRecordedIsMissingAndUnknown) {
  Sides sides;
  sides.run.conditions->default_dtype.clear();
  const Comparison comparison = sides.compare();
  EXPECT_EQ(comparison.alikeness, Alikeness::unknown);
  EXPECT_EQ(condition(comparison, "default-dtype")->status, ConditionStatus::missing);
  EXPECT_THAT(condition(comparison, "default-dtype")->note, HasSubstr("the run's side"));
  EXPECT_EQ(condition(comparison, "default-dtype")->reference, "float32");
}

TEST(Conditions, ADifferenceStandsBeforeWhatIsMissing) {
  Sides sides;
  sides.run.conditions->default_dtype.clear();
  sides.run.conditions->batch_sizes = {1};
  EXPECT_EQ(sides.compare().alikeness, Alikeness::unlike);
}

TEST(Conditions, RandomNumbersWithoutASeedAreUnknown) {
  Sides sides;
  sides.run.conditions->seeds.clear();
  sides.reference.conditions->seeds.clear();
  const Comparison unseeded = sides.compare();
  EXPECT_EQ(condition(unseeded, "seeds")->status, ConditionStatus::missing);
  EXPECT_THAT(condition(unseeded, "seeds")->note, HasSubstr("set one"));
  sides.run.conditions->rng_devices.clear();
  sides.reference.conditions->rng_devices.clear();
  EXPECT_EQ(sides.compare().alikeness, Alikeness::alike);
}

TEST(Conditions, DocumentsThatBrokeOffOrAreNotThereAreUnknown) {
  Sides sides;
  sides.run.conditions.reset();
  EXPECT_EQ(sides.compare().alikeness, Alikeness::unknown);
  Input input;
  input.same_project = true;
  EXPECT_EQ(compare(input).alikeness, Alikeness::unknown);
}

} // namespace
} // namespace remotemac::compare
