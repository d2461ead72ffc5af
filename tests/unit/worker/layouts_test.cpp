#include "daemon/worker/layouts.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

Signature call(std::string op, std::vector<Value> args) {
  Signature signature;
  signature.op = std::move(op);
  signature.args = std::move(args);
  return signature;
}

using Stride = std::vector<std::int64_t>;

Stride stride_of(const Signature& signature, Layout layout, std::size_t argument = 0, Arguments arguments = Arguments::all) {
  const auto changed = with_layout(signature, layout, arguments);
  return changed ? changed->args.at(argument).tensor.stride : Stride{};
}

TEST(Layouts, Strides) {
  const Signature images = call("aten::relu", {tensor({2, 3, 4, 5})});
  EXPECT_EQ(stride_of(images, Layout::transposed), (Stride{60, 20, 1, 4}));
  EXPECT_EQ(stride_of(images, Layout::strided), (Stride{120, 40, 10, 2}));
  EXPECT_EQ(stride_of(images, Layout::channels_last), (Stride{60, 1, 15, 3}));
  EXPECT_EQ(stride_of(images, Layout::expanded), (Stride{0, 20, 5, 1}));
  EXPECT_EQ(with_layout(images, Layout::offset, Arguments::all)->args[0].tensor.offset, 7);
}

TEST(Layouts, EveryViewFitsItsMemory) {
  for (const Layout layout : all_layouts()) {
    const auto changed = with_layout(call("aten::relu", {tensor({2, 3, 4, 5})}), layout, Arguments::all);
    ASSERT_TRUE(changed) << layout_name(layout);
    EXPECT_TRUE(storage_elements(changed->args[0].tensor)) << layout_name(layout);
  }
}

TEST(Layouts, WhatCannotLieSoIsLeftOut) {
  EXPECT_FALSE(with_layout(call("aten::relu", {tensor({5})}), Layout::transposed, Arguments::all));
  EXPECT_FALSE(with_layout(call("aten::relu", {tensor({2, 3})}), Layout::channels_last, Arguments::all));
  EXPECT_FALSE(with_layout(call("aten::relu", {tensor({})}), Layout::offset, Arguments::all));
  EXPECT_FALSE(with_layout(call("aten::add", {tensor({2, 3}, "int64")}), Layout::transposed, Arguments::all)) << "indices stay as they are";
}

TEST(Layouts, FirstArgumentOnly) {
  const Signature two = call("aten::mul", {tensor({2, 3}), tensor({2, 3})});
  EXPECT_EQ(stride_of(two, Layout::transposed, 1, Arguments::first), (Stride{3, 1}));
  EXPECT_EQ(stride_of(two, Layout::transposed, 1, Arguments::all), (Stride{1, 2}));
}

TEST(Layouts, AWrittenArgumentIsNeverExpanded) {
  const Signature in_place = call("aten::add_", {tensor({2, 3}), tensor({2, 3})});
  EXPECT_EQ(stride_of(in_place, Layout::expanded, 0), (Stride{3, 1}));
  EXPECT_EQ(stride_of(in_place, Layout::expanded, 1), (Stride{0, 1}));
}

} // namespace
} // namespace remotemac::worker
