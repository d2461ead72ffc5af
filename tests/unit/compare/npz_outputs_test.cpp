#include "sides.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace remotemac::compare {
namespace {
using test::Bytes;
using test::floats;
using test::little_endian;
using test::npy_file;
using test::npz_text;
using test::output;
using test::Sides;
using testing::HasSubstr;

OutputPair arrays(const Bytes& run, const Bytes& reference, const std::map<std::string, Tolerance>& tolerances = {}) {
  Sides sides;
  sides.input.tolerances = tolerances;
  const Comparison all = sides.compare("o.npz", npz_text({{"x.npy", run}}), npz_text({{"x.npy", reference}}));
  EXPECT_EQ(all.outputs_total, 1u);
  return output(all, "x");
}

TEST(NpzOutputs, ThreeBands) {
  EXPECT_EQ(arrays(floats({1, 2}, "(2,)"), floats({1, 2.000005f}, "(2,)")).status, OutputStatus::equal);
  const OutputPair relaxed = arrays(floats({1, 2, 3}, "(3,)"), floats({1, 2.00005f, 3}, "(3,)"));
  EXPECT_EQ(relaxed.status, OutputStatus::relaxed);
  EXPECT_EQ(relaxed.first_index, 1u);
  EXPECT_EQ(relaxed.mismatches, 1u);
  EXPECT_EQ(relaxed.elements, 3u);
  const OutputPair outside = arrays(floats({1, 2.00005f, 8}, "(3,)"), floats({1, 2, 4}, "(3,)"));
  EXPECT_EQ(outside.status, OutputStatus::outside);
  EXPECT_EQ(outside.first_index, 2u);
  EXPECT_EQ(outside.mismatches, 1u);
  EXPECT_EQ(outside.max_abs, 4.0);
  EXPECT_EQ(outside.max_rel, 1.0);
  EXPECT_EQ(outside.dtype, "float32");
  EXPECT_EQ(outside.shape_run, "(3)");
}

TEST(NpzOutputs, NanPatternsAndInfinities) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const OutputPair same = arrays(floats({nan, infinity}, "(2,)"), floats({nan, infinity}, "(2,)"));
  EXPECT_EQ(same.status, OutputStatus::equal);
  EXPECT_EQ(same.nan_run, 1u);
  EXPECT_EQ(same.nan_reference, 1u);
  EXPECT_FALSE(same.nan_pattern_differs);
  const OutputPair moved = arrays(floats({nan, 1}, "(2,)"), floats({1, nan}, "(2,)"));
  EXPECT_EQ(moved.status, OutputStatus::outside);
  EXPECT_TRUE(moved.nan_pattern_differs);
  EXPECT_EQ(moved.mismatches, 2u);
  const OutputPair infinite = arrays(floats({infinity, 1}, "(2,)"), floats({-infinity, 1}, "(2,)"));
  EXPECT_EQ(infinite.status, OutputStatus::outside);
  EXPECT_EQ(infinite.max_abs, 0.0);
}

TEST(NpzOutputs, IntegersAndFlagsAreExact) {
  const auto ints = [](std::int64_t value) { return npy_file("<i8", "(1,)", little_endian<std::int64_t>({value})); };
  EXPECT_EQ(arrays(ints(9007199254740993), ints(9007199254740992)).status, OutputStatus::outside);
  EXPECT_EQ(arrays(ints(-5), ints(-5)).status, OutputStatus::equal);
  EXPECT_EQ(arrays(ints(5), ints(6), {{"o.npz:x", {1.0, 0.0}}}).status, OutputStatus::equal);
  EXPECT_EQ(arrays(npy_file("|b1", "(1,)", {1}), npy_file("|b1", "(1,)", {0}), {{"o.npz:x", {1.0, 1.0}}}).status,
      OutputStatus::outside);
  EXPECT_EQ(arrays(npy_file("|S2", "(1,)", {'a', 0}), npy_file("|S1", "(1,)", {'a'})).status, OutputStatus::equal);
  EXPECT_EQ(arrays(npy_file("|S1", "(1,)", {'a'}), npy_file("|S1", "(1,)", {'b'})).status, OutputStatus::outside);
}

TEST(NpzOutputs, TypesAndShapesDiffer) {
  const OutputPair type = arrays(floats({1}, "(1,)"), npy_file("<f8", "(1,)", little_endian<double>({1.0})));
  EXPECT_EQ(type.status, OutputStatus::type_differs);
  EXPECT_EQ(type.dtype, "float32 / float64");
  EXPECT_THAT(type.detail, HasSubstr("agree"));
  EXPECT_EQ(arrays(floats({1}, "(1,)"), npy_file("|S1", "(1,)", {'b'})).status, OutputStatus::type_differs);
  const OutputPair shape = arrays(floats({1, 2}, "(2,)"), floats({1, 2}, "(1, 2)"));
  EXPECT_EQ(shape.status, OutputStatus::shape_differs);
  EXPECT_EQ(shape.shape_reference, "(1, 2)");
}

TEST(NpzOutputs, StorageOrderDoesNotMatter) {
  const Bytes c = npy_file("<i4", "(2, 3)", little_endian<std::int32_t>({0, 1, 2, 3, 4, 5}));
  const Bytes fortran = npy_file("<i4", "(2, 3)", little_endian<std::int32_t>({0, 3, 1, 4, 2, 5}), true);
  EXPECT_EQ(arrays(c, fortran).status, OutputStatus::equal);
}

TEST(NpzOutputs, ComplexNumbersCountBothParts) {
  const auto complex = [](float imaginary) { return npy_file("<c8", "(1,)", little_endian<float>({1, imaginary})); };
  EXPECT_EQ(arrays(complex(1), complex(1)).status, OutputStatus::equal);
  const OutputPair pair = arrays(complex(3), complex(1));
  EXPECT_EQ(pair.status, OutputStatus::outside);
  EXPECT_EQ(pair.max_abs, 2.0);
}

TEST(NpzOutputs, MissingArraysAndUnreadableOnes) {
  Sides sides;
  const Bytes x = floats({1}, "(1,)");
  const Bytes object = npy_file("|O", "(1,)", Bytes(8));
  const Comparison all = sides.compare("o.npz", npz_text({{"x.npy", x}, {"only_run.npy", x}, {"bad.npy", object}}),
                                       npz_text({{"x.npy", x}, {"only_reference.npy", x}, {"bad.npy", x}}));
  EXPECT_EQ(output(all, "x").status, OutputStatus::equal);
  EXPECT_EQ(output(all, "only_run").status, OutputStatus::missing_in_reference);
  EXPECT_EQ(output(all, "only_reference").status, OutputStatus::missing_in_run);
  EXPECT_EQ(output(all, "bad").status, OutputStatus::unreadable);
  EXPECT_THAT(output(all, "bad").detail, HasSubstr("Python objects"));
  const Comparison broken = sides.compare("o.npz", "no archive", npz_text({{"x.npy", x}}));
  EXPECT_EQ(output(broken, "").status, OutputStatus::unreadable);
}

TEST(Outputs, MissingFilesOnEitherSideAndNone) {
  Sides sides;
  sides.input.names = {"a.json", "b.json", "c.json"};
  sides.input.run_files = {{"a.json", "{}"}};
  sides.input.reference_files = {{"b.json", "{}"}};
  const Comparison all = sides.compare();
  ASSERT_EQ(all.outputs.size(), 3u);
  EXPECT_EQ(all.outputs[0].status, OutputStatus::missing_in_reference);
  EXPECT_EQ(all.outputs[1].status, OutputStatus::missing_in_run);
  EXPECT_EQ(all.outputs[2].status, OutputStatus::missing_in_run);
  EXPECT_THAT(all.outputs[2].detail, HasSubstr("neither"));
  EXPECT_EQ(all.not_compared_because, "");
  Sides nothing;
  EXPECT_THAT(nothing.compare().not_compared_because, HasSubstr("names no outputs"));
}

TEST(Outputs, FilesOfOtherKindsAreEqualOrNotCompared) {
  Sides sides;
  EXPECT_EQ(output(sides.compare("model.pt", "abc", "abc"), "").status, OutputStatus::equal);
  EXPECT_EQ(output(sides.compare("model.pt", "abc", "abd"), "").status, OutputStatus::not_compared);
  EXPECT_EQ(output(sides.compare("a.npy", test::text_of(floats({1}, "(1,)")), test::text_of(floats({2}, "(1,)"))), "").status,
      OutputStatus::outside);
}

TEST(Outputs, UnderUnlikeConditionsEveryOutputSaysSo) {
  Sides sides;
  sides.run.conditions->batch_sizes = {1};
  const Comparison all = sides.compare("m.json", R"({"a":1.0,"b":2})", R"({"a":5.0,"b":2})");
  EXPECT_EQ(all.alikeness, Alikeness::unlike);
  ASSERT_EQ(all.outputs.size(), 2u);
  EXPECT_EQ(output(all, "a").status, OutputStatus::outside);
  for (const OutputPair& pair : all.outputs)
    EXPECT_THAT(pair.detail, HasSubstr("under unlike conditions (batch-sizes)"));
}

} // namespace
} // namespace remotemac::compare
