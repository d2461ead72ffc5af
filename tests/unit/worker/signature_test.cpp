#include "daemon/worker/signature.h"

#include <gtest/gtest.h>
#include <limits>

namespace remotemac::worker {
namespace {

constexpr auto k_max = std::numeric_limits<std::int64_t>::max();

TensorSpec spec(std::vector<std::int64_t> shape, std::vector<std::int64_t> stride, std::int64_t offset = 0) {
  TensorSpec result;
  result.shape = std::move(shape);
  result.stride = std::move(stride);
  result.offset = offset;
  return result;
}

TEST(Strides, Contiguous) {
  EXPECT_EQ(contiguous_stride({2, 3, 4}), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(contiguous_stride({}), std::vector<std::int64_t>{});
  EXPECT_EQ(contiguous_stride({3, 0, 2}), (std::vector<std::int64_t>{2, 2, 1}));
}

TEST(StorageElements, ReachOfAView) {
  EXPECT_EQ(storage_elements(spec({2, 3}, {3, 1})), 6U);
  EXPECT_EQ(storage_elements(spec({2, 3}, {3, 1}, 7)), 13U);
  EXPECT_EQ(storage_elements(spec({2, 3}, {0, 1})), 3U) << "expanded";
  EXPECT_EQ(storage_elements(spec({}, {})), 1U);
  EXPECT_EQ(storage_elements(spec({0, 3}, {3, 1}, 5)), 5U) << "nothing is read";
}

TEST(StorageElements, UnsoundViewsHaveNone) {
  EXPECT_FALSE(storage_elements(spec({2}, {1, 1})));
  EXPECT_FALSE(storage_elements(spec({2}, {1}, -1)));
  EXPECT_FALSE(storage_elements(spec({-2}, {1})));
  EXPECT_FALSE(storage_elements(spec({k_max, k_max}, {k_max, 1})));
  EXPECT_FALSE(storage_elements(spec({k_max, 2}, {1, k_max})));
}

TEST(ElementCount, OverflowIsTheLargestNumber) {
  EXPECT_EQ(element_count(spec({2, 3, 4}, {})), 24U);
  EXPECT_EQ(element_count(spec({k_max, k_max}, {})), std::numeric_limits<std::uint64_t>::max());
}

TEST(Dtypes, Kinds) {
  EXPECT_TRUE(is_floating("bfloat16"));
  EXPECT_TRUE(is_floating("complex64"));
  EXPECT_FALSE(is_floating("int64"));
  EXPECT_TRUE(is_half("float16"));
  EXPECT_FALSE(is_half("float32"));
  EXPECT_FALSE(is_known_dtype("qint8"));
}

TEST(VisitTensors, ArgumentsThenKeywordsIntoLists) {
  Signature signature;
  signature.args = {tensor({1}), list({tensor({2}), none(), list({tensor({3})})})};
  signature.kwargs = {{"b", tensor({5})}, {"a", tensor({4})}};
  std::vector<std::int64_t> seen;
  visit_tensors(signature, [&](TensorSpec& each) { seen.push_back(each.shape[0]); });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
}

TEST(Names, Operator) {
  Signature signature;
  signature.op = "aten::mm";
  EXPECT_EQ(operator_name(signature), "aten::mm");
  signature.overload = "out";
  EXPECT_EQ(operator_name(signature), "aten::mm.out");
}

TEST(Describe, OneShortLine) {
  Signature signature;
  Value turned = tensor({3, 4});
  turned.tensor.stride = {1, 3};
  signature.args = {turned, integer(1), boolean(true), list({none(), text("a\nb")})};
  const std::string line = describe(signature);
  EXPECT_TRUE(line.starts_with("float32[3, 4] (stride 1, 3), 1, True, [None, ")) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  signature.args.assign(500, integer(1));
  EXPECT_LE(describe(signature).size(), 410U);
}

} // namespace
} // namespace remotemac::worker
