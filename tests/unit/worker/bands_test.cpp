#include "daemon/worker/bands.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace remotemac::worker {
namespace {

constexpr double k_inf = std::numeric_limits<double>::infinity();
const double k_nan = std::numeric_limits<double>::quiet_NaN();

Difference differ(const std::vector<double>& actual, const std::vector<double>& expected, std::string_view op = "aten::add", std::string_view dtype = "float32") {
  return compare(actual, expected, default_tolerance(dtype), relaxed_tolerance(op, dtype));
}

TEST(Bands, DefaultsAreThoseOfAssertClose) {
  EXPECT_DOUBLE_EQ(default_tolerance("float32").relative, 1.3e-6);
  EXPECT_DOUBLE_EQ(default_tolerance("float32").absolute, 1e-5);
  EXPECT_DOUBLE_EQ(default_tolerance("float16").relative, 1e-3);
  EXPECT_DOUBLE_EQ(default_tolerance("bfloat16").relative, 1.6e-2);
  EXPECT_DOUBLE_EQ(default_tolerance("float64").absolute, 1e-7);
  EXPECT_DOUBLE_EQ(default_tolerance("int64").absolute, 0);
  EXPECT_DOUBLE_EQ(default_tolerance("bool").relative, 0);
}

TEST(Bands, RelaxedToleranceNeverIsTheStricterOne) {
  for (const char* op : {"aten::add", "aten::mm", "aten::conv2d", "aten::fft_fft", "aten::layer_norm", "aten::softplus"})
    for (const char* dtype : {"float32", "float16", "bfloat16", "complex64", "float64", "int64"}) {
      EXPECT_GE(relaxed_tolerance(op, dtype).absolute, default_tolerance(dtype).absolute) << op << " " << dtype;
      EXPECT_GE(relaxed_tolerance(op, dtype).relative, default_tolerance(dtype).relative) << op << " " << dtype;
    }
}

TEST(Bands, WithinTheDefaultsIsEqual) {
  const auto stats = judge(differ({1.0, 2.0 + 1e-6}, {1.0, 2.0}), std::nullopt);
  EXPECT_EQ(stats.band, Band::equal);
  EXPECT_EQ(stats.mismatches, 0U);
  EXPECT_EQ(stats.elements, 2U);
  EXPECT_FALSE(stats.reference_max_rel);
}

TEST(Bands, BetweenTheTolerancesIsRelaxed) {
  const auto stats = judge(differ({1.00005}, {1.0}, "aten::mm"), std::nullopt);
  EXPECT_EQ(stats.band, Band::relaxed);
  EXPECT_EQ(stats.mismatches, 1U);
  EXPECT_EQ(judge(differ({1.00005}, {1.0}, "aten::add"), std::nullopt).band, Band::outside);
}

TEST(Bands, BeyondBothIsOutside) {
  const auto stats = judge(differ({1.1, 5}, {1.0, 5}, "aten::mm"), std::nullopt);
  EXPECT_EQ(stats.band, Band::outside);
  EXPECT_NEAR(stats.max_abs, 0.1, 1e-12);
  EXPECT_NEAR(stats.max_rel, 0.1, 1e-12);
}

TEST(Bands, IntegersMustBeExact) { EXPECT_EQ(judge(differ({4}, {5}, "aten::add", "int64"), std::nullopt).band, Band::outside); }

TEST(Bands, AnErrorThatTheCpuMakesTooIsTheDtypesNotTheDevices) {
  const Difference device = differ({1.0009}, {1.0});
  EXPECT_EQ(judge(device, differ({1.0001}, {1.0})).band, Band::equal);
  EXPECT_EQ(judge(device, differ({1.00005}, {1.0})).band, Band::outside);
  EXPECT_NEAR(judge(device, differ({1.0001}, {1.0})).reference_max_rel.value_or(0), 1e-4, 1e-9);
}

TEST(Bands, NanAndInfinityInTheSamePlacesAreEqual) {
  EXPECT_EQ(judge(differ({k_nan, k_inf, -k_inf}, {k_nan, k_inf, -k_inf}), std::nullopt).band, Band::equal);
}

TEST(Bands, NanAgainstANumberIsOutside) {
  for (const auto& [actual, expected] : {std::pair(k_nan, 1.0), std::pair(1.0, k_nan), std::pair(k_inf, 1.0), std::pair(k_inf, -k_inf)}) {
    const auto difference = differ({actual}, {expected});
    EXPECT_EQ(difference.not_finite, 1U) << actual << " " << expected;
    EXPECT_EQ(judge(difference, std::nullopt).band, Band::outside) << actual << " " << expected;
    EXPECT_EQ(judge(difference, differ({1.0}, {1.0})).band, Band::outside) << "the CPU got it right";
  }
}

// float16 overflows on the CPU too: that excuses the overflow, and nothing else.
TEST(Bands, AnOverflowOfTheCpuDoesNotHideWrongValuesElsewhere) {
  const Difference cpu = differ({k_inf, 1.0}, {7e4, 1.0}, "aten::exp", "float16");
  EXPECT_EQ(judge(differ({k_inf, 1.0}, {7e4, 1.0}, "aten::exp", "float16"), cpu).band, Band::equal);
  EXPECT_EQ(judge(differ({k_inf, 42.0}, {7e4, 1.0}, "aten::exp", "float16"), cpu).band, Band::outside);
}

TEST(Bands, DifferencesOfSeveralOutputsAddUp) {
  Difference sum = differ({1.0, 2.0}, {1.0, 2.5});
  sum.add(differ({k_nan}, {0.0}));
  EXPECT_EQ(sum.elements, 3U);
  EXPECT_EQ(sum.outside_default, 2U);
  EXPECT_EQ(sum.not_finite, 1U);
  EXPECT_EQ(sum.max_abs, k_inf);
  EXPECT_DOUBLE_EQ(sum.max_finite, 0.5);
}

TEST(Bands, NothingToCompareIsEqual) { EXPECT_EQ(judge(differ({}, {}), std::nullopt).band, Band::equal); }

} // namespace
} // namespace remotemac::worker
