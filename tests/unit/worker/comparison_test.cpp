#include "daemon/worker/comparison.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

Signature with(std::vector<Value> args) {
  Signature signature;
  signature.op = "aten::any";
  signature.args = std::move(args);
  return signature;
}

TEST(ComparisonOf, TiesMakePositionsAmbiguous) {
  EXPECT_EQ(comparison_of("aten::sort", Ties::possible), Comparison::reals);
  EXPECT_EQ(comparison_of("aten::sort", Ties::impossible), Comparison::values);
  EXPECT_EQ(comparison_of("aten::add", Ties::possible), Comparison::values);
}

TEST(ComparisonOf, UnsetMemoryAndFreeSigns) {
  EXPECT_EQ(comparison_of("aten::empty_like", Ties::impossible), Comparison::shapes);
  EXPECT_EQ(comparison_of("aten::linalg_qr", Ties::impossible), Comparison::magnitudes);
}

const std::vector<std::string> k_attention = {"query", "key", "value", "attn_mask", "dropout_p", "is_causal"};

TEST(WithoutChance, AttentionWithoutDropoutIsCompared) {
  EXPECT_TRUE(without_chance(with({tensor({2}), tensor({2}), tensor({2})}), k_attention));
  EXPECT_TRUE(without_chance(with({tensor({2}), tensor({2}), tensor({2}), none(), real(0)}), k_attention));
  EXPECT_FALSE(without_chance(with({tensor({2}), tensor({2}), tensor({2}), none(), real(0.1)}), k_attention));
  Signature named = with({tensor({2})});
  named.kwargs.emplace("dropout_p", real(0.5));
  EXPECT_FALSE(without_chance(named, k_attention));
}

TEST(WithoutChance, TrainingSwitches) {
  const std::vector<std::string> dropout = {"input", "p", "train"};
  EXPECT_TRUE(without_chance(with({tensor({2}), real(0.5), boolean(false)}), dropout));
  EXPECT_TRUE(without_chance(with({tensor({2}), real(0), boolean(true)}), dropout));
  EXPECT_FALSE(without_chance(with({tensor({2}), real(0.5), boolean(true)}), dropout));
  EXPECT_FALSE(without_chance(with({tensor({2}), real(0.5), none()}), dropout)) << "none means training";
}

TEST(WithoutChance, DrawingOperatorsStayRandom) {
  const std::vector<std::string> bernoulli = {"self", "p", "generator"};
  EXPECT_FALSE(without_chance(with({tensor({2})}), bernoulli)) << "the default of p is one half";
  const std::vector<std::string> multinomial = {"self", "num_samples", "replacement", "generator"};
  EXPECT_FALSE(without_chance(with({tensor({2}), integer(0), boolean(false)}), multinomial));
}

} // namespace
} // namespace remotemac::worker
