#include "daemon/worker/translate.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

TEST(Translate, OrdinaryOperatorsStay) {
  Signature signature;
  signature.op = "aten::mm";
  signature.args = {tensor({2, 3}), tensor({3, 2})};
  EXPECT_EQ(translate(signature), "");
  EXPECT_EQ(signature.op, "aten::mm");
  EXPECT_EQ(signature.problem, "");
}

TEST(Translate, AttentionOfTheCpuIsCalledInItsPortableForm) {
  Signature signature;
  signature.op = "aten::_scaled_dot_product_flash_attention_for_cpu";
  signature.args = {tensor({2, 3, 4, 8}), tensor({2, 3, 4, 8}), tensor({2, 3, 4, 8}), real(0), boolean(true)};
  signature.kwargs = {{"attn_mask", tensor({4, 4})}, {"scale", real(0.5)}};
  EXPECT_NE(translate(signature), "");
  EXPECT_EQ(operator_name(signature), "aten::scaled_dot_product_attention");
  ASSERT_EQ(signature.args.size(), 6U);
  EXPECT_EQ(signature.args[3].kind, Value::Kind::tensor);
  EXPECT_EQ(signature.args[4].kind, Value::Kind::real);
  EXPECT_TRUE(signature.args[5].flag);
  EXPECT_EQ(signature.kwargs.size(), 1U);
  EXPECT_DOUBLE_EQ(signature.kwargs.at("scale").real, 0.5);
}

TEST(Translate, MissingArgumentsGetTheirDefaults) {
  Signature signature;
  signature.op = "aten::_scaled_dot_product_flash_attention";
  signature.args = {tensor({2, 3, 4, 8}), tensor({2, 3, 4, 8}), tensor({2, 3, 4, 8})};
  EXPECT_NE(translate(signature), "");
  ASSERT_EQ(signature.args.size(), 6U);
  EXPECT_EQ(signature.args[3].kind, Value::Kind::none);
  EXPECT_DOUBLE_EQ(signature.args[4].real, 0);
  EXPECT_FALSE(signature.args[5].flag);
}

TEST(Translate, WhatHasNoPortableFormSaysSo) {
  for (const char* op : {"aten::_cudnn_rnn", "aten::mkldnn_rnn_layer", "aten::_scaled_dot_product_flash_attention_backward", "aten::_pin_memory"}) {
    Signature signature;
    signature.op = op;
    EXPECT_EQ(translate(signature), "");
    EXPECT_NE(signature.problem, "") << op;
  }
}

TEST(Translate, AnEarlierProblemStands) {
  Signature signature;
  signature.op = "aten::_cudnn_rnn";
  signature.problem = "first";
  EXPECT_EQ(translate(signature), "");
  EXPECT_EQ(signature.problem, "first");
}

} // namespace
} // namespace remotemac::worker
