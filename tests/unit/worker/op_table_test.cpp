#include "daemon/worker/op_table.h"
#include "daemon/worker/probe.h"

#include <gtest/gtest.h>
#include <set>

namespace remotemac::worker {
namespace {

TEST(OpTable, NamesAreUniqueAndUsableInIds) {
  std::set<std::string_view> names;
  for (const Sample& sample : all_samples()) {
    EXPECT_TRUE(names.insert(sample.name).second) << sample.name;
    EXPECT_EQ(sample.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos) << sample.name;
  }
  EXPECT_GT(names.size(), 70U);
}

TEST(OpTable, SignaturesAreSoundAtEverySize) {
  for (const Sample& sample : all_samples())
    for (const std::int64_t batch : {1, 4, 37, 1025}) {
      Signature signature = sample.make(batch);
      EXPECT_TRUE(signature.op.starts_with("aten::")) << sample.name;
      EXPECT_EQ(signature.problem, "");
      int tensors = 0;
      visit_tensors(signature, [&](TensorSpec& spec) {
        ++tensors;
        EXPECT_TRUE(is_known_dtype(spec.dtype)) << sample.name;
        EXPECT_EQ(storage_elements(spec), element_count(spec)) << sample.name << ": contiguous";
      });
      EXPECT_GT(tensors, 0) << sample.name;
    }
}

TEST(Probes, TheFiveGroupsAreThere) {
  for (const char* name : {"device", "layout", "backward", "repeat", "dtype"})
    EXPECT_NE(find_probe(name), nullptr) << name;
  EXPECT_EQ(find_probe("weather"), nullptr);
  EXPECT_EQ(all_probes().size(), 5U);
}

TEST(Probes, CaseIdsAreUniqueAndNameTheirGroup) {
  for (const Profile profile : {Profile::quick, Profile::standard, Profile::full}) {
    std::set<std::string> ids;
    for (const Probe& probe : all_probes())
      for (const Case& each : probe.cases(profile)) {
        EXPECT_TRUE(ids.insert(each.id).second) << each.id;
        EXPECT_TRUE(each.id.starts_with(std::string(probe.name) + ".")) << each.id;
        EXPECT_TRUE(each.id.ends_with("." + each.name)) << each.id << " " << each.name;
      }
  }
}

TEST(Probes, LargerProfilesTryMore) {
  for (const char* name : {"layout", "backward", "dtype", "repeat"}) {
    const Probe* probe = find_probe(name);
    EXPECT_LT(probe->cases(Profile::quick).size(), probe->cases(Profile::standard).size()) << name;
    EXPECT_LE(probe->cases(Profile::standard).size(), probe->cases(Profile::full).size()) << name;
  }
}

TEST(Probes, EveryLayoutCaseLiesOtherwiseInMemory) {
  for (Case& each : layout_cases(Profile::standard)) {
    bool other = false;
    visit_tensors(each.signature, [&](TensorSpec& spec) { other = other || spec.offset != 0 || spec.stride != contiguous_stride(spec.shape); });
    EXPECT_TRUE(other) << each.id;
    EXPECT_EQ(each.check, Check::layout);
  }
}

TEST(Probes, EveryGradientCaseWantsAGradient) {
  for (Case& each : backward_cases(Profile::full)) {
    int wanted = 0;
    visit_tensors(each.signature, [&](TensorSpec& spec) {
      wanted += spec.requires_grad ? 1 : 0;
      EXPECT_TRUE(!spec.requires_grad || is_floating(spec.dtype)) << each.id;
    });
    EXPECT_GT(wanted, 0) << each.id;
  }
}

TEST(Probes, DtypeCasesAreOfHalfPrecision) {
  for (Case& each : dtype_cases(Profile::standard)) {
    bool half = false;
    visit_tensors(each.signature, [&](TensorSpec& spec) { half = half || is_half(spec.dtype); });
    EXPECT_TRUE(half) << each.id;
  }
}

TEST(Probes, RepeatCasesHaveAnotherShapeInBetween) {
  for (const Case& each : repeat_cases(Profile::quick)) {
    ASSERT_TRUE(each.other) << each.id;
    EXPECT_NE(describe(*each.other), describe(each.signature)) << each.id;
    EXPECT_GT(each.repeats, 1);
  }
}

TEST(Probes, ProfilesByName) {
  EXPECT_EQ(profile_from_name("full"), Profile::full);
  EXPECT_FALSE(profile_from_name("Full"));
}

} // namespace
} // namespace remotemac::worker
