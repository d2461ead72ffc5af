#include "daemon/worker/domains.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

using Names = std::vector<std::string>;

Signature call(std::string op, std::vector<Value> args) {
  Signature signature;
  signature.op = "aten::" + std::move(op);
  signature.args = std::move(args);
  return signature;
}

TEST(Domains, IndicesStayWithinTheirDimension) {
  const auto plan = plan_inputs(call("gather", {tensor({4, 10}), integer(-1), tensor({4, 3}, "int64")}), Names{"self", "dim", "index"});
  ASSERT_EQ(plan.tensors.size(), 2U);
  EXPECT_EQ(plan.tensors[0].domain, Domain::normal);
  EXPECT_EQ(plan.tensors[1].domain, Domain::index);
  EXPECT_EQ(plan.tensors[1].bound, 10);
}

TEST(Domains, EmbeddingIndicesStayWithinTheTable) {
  const auto plan = plan_inputs(call("embedding", {tensor({12, 8}), tensor({5}, "int64")}), Names{"weight", "indices"});
  EXPECT_EQ(plan.tensors[1].bound, 12);
}

TEST(Domains, EachListOfIndicesHasItsOwnDimension) {
  const auto plan = plan_inputs(call("index", {tensor({4, 9}), list({tensor({3}, "int64"), tensor({3}, "int64")})}), Names{"self", "indices"});
  EXPECT_EQ(plan.tensors[1].bound, 4);
  EXPECT_EQ(plan.tensors[2].bound, 9);
}

TEST(Domains, AMaskStandsForAllItsDimensions) {
  const auto signature = call("index", {tensor({4, 9, 5}), list({tensor({4, 9}, "bool"), tensor({3}, "int64")})});
  const auto plan = plan_inputs(signature, Names{"self", "indices"});
  EXPECT_EQ(plan.tensors[1].domain, Domain::boolean);
  EXPECT_EQ(plan.tensors[2].bound, 5);
}

TEST(Domains, ClassesAndProbabilities) {
  const Names names = {"self", "target"};
  const auto indices = plan_inputs(call("cross_entropy_loss", {tensor({4, 10}), tensor({4}, "int64")}), names);
  EXPECT_EQ(indices.tensors[1].domain, Domain::index);
  EXPECT_EQ(indices.tensors[1].bound, 10);
  const auto probabilities = plan_inputs(call("cross_entropy_loss", {tensor({4, 10}), tensor({4, 10})}), names);
  EXPECT_EQ(probabilities.tensors[1].domain, Domain::rows);
  EXPECT_EQ(probabilities.tensors[1].dim, 1);
}

TEST(Domains, FunctionsGetArgumentsThatTheyAreDefinedFor) {
  EXPECT_EQ(plan_inputs(call("log", {tensor({3})}), Names{"self"}).tensors[0].domain, Domain::positive);
  EXPECT_EQ(plan_inputs(call("log_", {tensor({3})}), Names{"self"}).tensors[0].domain, Domain::positive) << "the in-place form as well";
  EXPECT_EQ(plan_inputs(call("acosh", {tensor({3})}), Names{"self"}).tensors[0].domain, Domain::above_one);
  EXPECT_EQ(plan_inputs(call("div", {tensor({3}), tensor({3}, "int64")}), Names{"self", "other"}).tensors[1].domain, Domain::positive);
  EXPECT_EQ(plan_inputs(call("logical_not", {tensor({3})}), Names{"self"}).tensors[0].domain, Domain::normal) << "names match as whole words";
}

TEST(Domains, PositiveDefiniteOnlyWhereThereIsASquare) {
  EXPECT_EQ(plan_inputs(call("linalg_cholesky_ex", {tensor({5, 5})}), Names{"self"}).tensors[0].domain, Domain::positive_definite);
  EXPECT_EQ(plan_inputs(call("linalg_cholesky_ex", {tensor({5, 4})}), Names{"self"}).tensors[0].domain, Domain::normal);
}

TEST(Domains, WritesToOnePlaceInNoOrderAreAmbiguous) {
  const Names names = {"self", "indices", "values", "accumulate"};
  const auto args = [](bool accumulate) { return std::vector<Value>{tensor({4}), list({tensor({9}, "int64")}), tensor({9}), boolean(accumulate)}; };
  EXPECT_TRUE(plan_inputs(call("index_put_", args(false)), names).ambiguous);
  EXPECT_FALSE(plan_inputs(call("index_put_", args(true)), names).ambiguous);
  const auto few = plan_inputs(call("index_put_", {tensor({40}), list({tensor({9}, "int64")}), tensor({9}), boolean(false)}), names);
  EXPECT_FALSE(few.ambiguous);
  EXPECT_EQ(few.tensors[1].domain, Domain::unique_index);
}

TEST(Domains, EmptySourcesStillGiveABoundOfOne) {
  EXPECT_EQ(plan_inputs(call("embedding", {tensor({0, 8}), tensor({0}, "int64")}), Names{"weight", "indices"}).tensors[1].bound, 1);
  EXPECT_EQ(plan_inputs(call("gather", {tensor({}), integer(7), tensor({}, "int64")}), Names{"self", "dim", "index"}).tensors[1].bound, 1);
}

TEST(TooLarge, SizesAmongTheArgumentsAreBounded) {
  EXPECT_EQ(too_large(call("zeros", {integers({100, 100})}), Names{"size"}), "");
  EXPECT_NE(too_large(call("zeros", {integers({1 << 20, 1 << 20})}), Names{"size"}), "");
  EXPECT_NE(too_large(call("zeros", {integers({INT64_MAX, INT64_MAX})}), Names{"size"}), "") << "also where the product overflows";
  EXPECT_NE(too_large(call("repeat", {tensor({1 << 20}), integers({1 << 20})}), Names{"self", "repeats"}), "");
  EXPECT_EQ(too_large(call("expand", {tensor({1}), integers({1 << 30})}), Names{"self", "size"}), "") << "a view needs no memory";
}

} // namespace
} // namespace remotemac::worker
