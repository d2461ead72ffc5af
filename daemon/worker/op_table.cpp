#include "daemon/worker/op_table.h"

namespace remotemac::worker {
namespace {

using Args = std::vector<Value>;
using Named = std::map<std::string, Value>;

Signature call(std::string op, std::string overload, Args args, Named kwargs = {}) {
  Signature signature;
  signature.op = "aten::" + op;
  signature.overload = std::move(overload);
  signature.args = std::move(args);
  signature.kwargs = std::move(kwargs);
  return signature;
}

// The shapes most rows use: a matrix, and a batch of images.
Value matrix(std::int64_t batch) { return tensor({batch, 10}); }
Value images(std::int64_t batch) { return tensor({batch, 6, 9, 9}); }
Value index(std::vector<std::int64_t> shape) { return tensor(std::move(shape), "int64"); }

Signature unary(const char* op, std::int64_t batch) { return call(op, "", {matrix(batch)}); }
Signature binary(const char* op, std::int64_t batch) { return call(op, "Tensor", {matrix(batch), matrix(batch)}); }

constexpr auto yes = Differentiable::yes;
constexpr auto no = Differentiable::no;
constexpr auto once = Repeated::no;
constexpr auto again = Repeated::yes;

constexpr Sample k_samples[] = {
    // element by element
    {"add", [](std::int64_t n) { return binary("add", n); }, yes, again},
    {"sub", [](std::int64_t n) { return binary("sub", n); }, yes, once},
    {"mul", [](std::int64_t n) { return binary("mul", n); }, yes, once},
    {"mul-broadcast", [](std::int64_t n) { return call("mul", "Tensor", {matrix(n), tensor({n, 1})}); }, yes, once},
    {"div", [](std::int64_t n) { return binary("div", n); }, yes, once},
    {"pow", [](std::int64_t n) { return call("pow", "Tensor_Scalar", {matrix(n), real(2.5)}); }, yes, once},
    {"exp", [](std::int64_t n) { return unary("exp", n); }, yes, again},
    {"log", [](std::int64_t n) { return unary("log", n); }, yes, once},
    {"sqrt", [](std::int64_t n) { return unary("sqrt", n); }, yes, once},
    {"rsqrt", [](std::int64_t n) { return unary("rsqrt", n); }, yes, once},
    {"sin", [](std::int64_t n) { return unary("sin", n); }, yes, once},
    {"tanh", [](std::int64_t n) { return unary("tanh", n); }, yes, again},
    {"sigmoid", [](std::int64_t n) { return unary("sigmoid", n); }, yes, once},
    {"erf", [](std::int64_t n) { return unary("erf", n); }, yes, once},
    {"abs", [](std::int64_t n) { return unary("abs", n); }, yes, once},
    {"clamp", [](std::int64_t n) { return call("clamp", "", {matrix(n), real(-0.5), real(0.5)}); }, yes, once},
    {"maximum", [](std::int64_t n) { return call("maximum", "", {matrix(n), matrix(n)}); }, yes, once},
    {"where", [](std::int64_t n) { return call("where", "self", {tensor({n, 10}, "bool"), matrix(n), matrix(n)}); }, yes, once},
    {"lerp", [](std::int64_t n) { return call("lerp", "Scalar", {matrix(n), matrix(n), real(0.3)}); }, yes, once},
    {"masked-fill", [](std::int64_t n) { return call("masked_fill", "Scalar", {matrix(n), tensor({n, 10}, "bool"), real(-1)}); }, yes, once},
    {"add-in-place", [](std::int64_t n) { return call("add_", "Tensor", {matrix(n), matrix(n)}, {{"alpha", real(0.5)}}); }, no, once},
    {"addcmul-in-place", [](std::int64_t n) { return call("addcmul_", "", {matrix(n), matrix(n), matrix(n)}, {{"value", real(0.1)}}); }, no, once},
    {"addcdiv-in-place", [](std::int64_t n) { return call("addcdiv_", "", {matrix(n), matrix(n), matrix(n)}, {{"value", real(-0.1)}}); }, no, once},
    {"copy-in-place", [](std::int64_t n) { return call("copy_", "", {matrix(n), matrix(n)}); }, no, once},
    // activations
    {"relu", [](std::int64_t n) { return unary("relu", n); }, yes, once},
    {"gelu", [](std::int64_t n) { return unary("gelu", n); }, yes, again},
    {"silu", [](std::int64_t n) { return unary("silu", n); }, yes, once},
    {"elu", [](std::int64_t n) { return unary("elu", n); }, yes, once},
    {"leaky-relu", [](std::int64_t n) { return unary("leaky_relu", n); }, yes, once},
    {"softplus", [](std::int64_t n) { return unary("softplus", n); }, yes, once},
    {"softmax", [](std::int64_t n) { return call("softmax", "int", {matrix(n), integer(-1)}); }, yes, again},
    {"log-softmax", [](std::int64_t n) { return call("log_softmax", "int", {matrix(n), integer(1)}); }, yes, once},
    // matrices
    {"mm", [](std::int64_t n) { return call("mm", "", {matrix(n), tensor({10, 7})}); }, yes, again},
    {"bmm", [](std::int64_t n) { return call("bmm", "", {tensor({3, n, 8}), tensor({3, 8, 5})}); }, yes, again},
    {"matmul", [](std::int64_t n) { return call("matmul", "", {tensor({3, n, 8}), tensor({8, 5})}); }, yes, once},
    {"addmm", [](std::int64_t n) { return call("addmm", "", {tensor({7}), matrix(n), tensor({10, 7})}); }, yes, once},
    {"linear", [](std::int64_t n) { return call("linear", "", {matrix(n), tensor({6, 10}), tensor({6})}); }, yes, again},
    // convolutions
    {"conv1d", [](std::int64_t n) { return call("conv1d", "", {tensor({n, 4, 15}), tensor({6, 4, 3}), tensor({6}), integers({1}), integers({1})}); }, yes, once},
    {"conv2d", [](std::int64_t n) { return call("conv2d", "", {images(n), tensor({8, 6, 3, 3}), tensor({8}), integers({1, 1}), integers({1, 1})}); }, yes, again},
    {"conv2d-grouped", [](std::int64_t n) { return call("conv2d", "", {images(n), tensor({6, 1, 3, 3}), none(), integers({2, 2}), integers({1, 1}), integers({1, 1}), integer(6)}); }, yes, once},
    {"conv-transpose2d", [](std::int64_t n) { return call("conv_transpose2d", "input", {images(n), tensor({6, 4, 2, 2}), tensor({4}), integers({2, 2})}); }, yes, once},
    // normalisation
    {"batch-norm", [](std::int64_t n) { return call("batch_norm", "", {images(n), tensor({6}), tensor({6}), tensor({6}), tensor({6}), boolean(true), real(0.1), real(1e-5), boolean(false)}); }, yes, once},
    {"batch-norm-eval", [](std::int64_t n) { return call("batch_norm", "", {images(n), tensor({6}), tensor({6}), tensor({6}), tensor({6}), boolean(false), real(0.1), real(1e-5), boolean(false)}); }, yes, once},
    {"layer-norm", [](std::int64_t n) { return call("layer_norm", "", {tensor({n, 5, 10}), integers({10}), tensor({10}), tensor({10})}); }, yes, again},
    {"group-norm", [](std::int64_t n) { return call("group_norm", "", {images(n), integer(3), tensor({6}), tensor({6})}); }, yes, once},
    // pooling and resizing
    {"max-pool2d", [](std::int64_t n) { return call("max_pool2d", "", {images(n), integers({3, 3}), integers({2, 2}), integers({1, 1})}); }, yes, once},
    {"avg-pool2d", [](std::int64_t n) { return call("avg_pool2d", "", {images(n), integers({2, 2}), integers({2, 2})}); }, yes, once},
    {"adaptive-avg-pool2d", [](std::int64_t n) { return call("adaptive_avg_pool2d", "", {images(n), integers({3, 3})}); }, yes, once},
    {"upsample-bilinear2d", [](std::int64_t n) { return call("upsample_bilinear2d", "", {images(n), integers({14, 13}), boolean(false)}); }, yes, once},
    {"constant-pad", [](std::int64_t n) { return call("constant_pad_nd", "", {images(n), integers({1, 2, 0, 1}), real(0.5)}); }, yes, once},
    // losses
    {"cross-entropy", [](std::int64_t n) { return call("cross_entropy_loss", "", {matrix(n), index({n})}); }, yes, again},
    {"mse-loss", [](std::int64_t n) { return call("mse_loss", "", {matrix(n), matrix(n)}); }, yes, once},
    {"smooth-l1-loss", [](std::int64_t n) { return call("smooth_l1_loss", "", {matrix(n), matrix(n)}); }, yes, once},
    {"bce-with-logits", [](std::int64_t n) { return call("binary_cross_entropy_with_logits", "", {matrix(n), matrix(n)}); }, yes, once},
    // reductions
    {"sum", [](std::int64_t n) { return call("sum", "dim_IntList", {matrix(n), integers({0})}); }, yes, again},
    {"mean", [](std::int64_t n) { return call("mean", "dim", {images(n), integers({2, 3})}); }, yes, once},
    {"amax", [](std::int64_t n) { return call("amax", "", {matrix(n), integers({1})}); }, yes, once},
    {"var", [](std::int64_t n) { return call("var", "correction", {matrix(n), integers({1})}); }, yes, once},
    {"logsumexp", [](std::int64_t n) { return call("logsumexp", "", {matrix(n), integers({1})}); }, yes, once},
    {"vector-norm", [](std::int64_t n) { return call("linalg_vector_norm", "", {matrix(n), real(2)}); }, yes, once},
    {"cumsum", [](std::int64_t n) { return call("cumsum", "", {matrix(n), integer(1)}); }, yes, once},
    {"argmax", [](std::int64_t n) { return call("argmax", "", {matrix(n), integer(1)}); }, no, once},
    {"sort", [](std::int64_t n) { return call("sort", "", {matrix(n), integer(1)}); }, yes, once},
    {"topk", [](std::int64_t n) { return call("topk", "", {matrix(n), integer(3)}); }, yes, once},
    // joining and indexing
    {"cat", [](std::int64_t n) { return call("cat", "", {list({matrix(n), tensor({n, 3}), matrix(n)}), integer(1)}); }, yes, once},
    {"stack", [](std::int64_t n) { return call("stack", "", {list({matrix(n), matrix(n)}), integer(1)}); }, yes, once},
    {"flip", [](std::int64_t n) { return call("flip", "", {matrix(n), integers({1})}); }, yes, once},
    {"index-select", [](std::int64_t n) { return call("index_select", "", {matrix(n), integer(1), index({5})}); }, yes, once},
    {"index", [](std::int64_t n) { return call("index", "Tensor", {matrix(n), list({index({3}), index({3})})}); }, yes, once},
    {"gather", [](std::int64_t n) { return call("gather", "", {matrix(n), integer(1), index({n, 4})}); }, yes, once},
    {"scatter-add", [](std::int64_t n) { return call("scatter_add", "", {matrix(n), integer(1), index({n, 6}), tensor({n, 6})}); }, yes, once},
    {"embedding", [](std::int64_t n) { return call("embedding", "", {tensor({12, 8}), index({n, 5})}); }, yes, again},
    // attention
    {"attention", [](std::int64_t n) { return call("scaled_dot_product_attention", "", {tensor({2, 3, n, 8}), tensor({2, 3, n, 8}), tensor({2, 3, n, 8})}); }, yes, again},
    {"attention-causal", [](std::int64_t n) { return call("scaled_dot_product_attention", "", {tensor({2, 3, n, 8}), tensor({2, 3, n, 8}), tensor({2, 3, n, 8}), none(), real(0), boolean(true)}); }, yes, once},
    {"attention-masked", [](std::int64_t n) { return call("scaled_dot_product_attention", "", {tensor({2, 3, n, 8}), tensor({2, 3, 33, 8}), tensor({2, 3, 33, 5}), tensor({n, 33})}); }, yes, once},
};

} // namespace

std::span<const Sample> all_samples() { return k_samples; }

} // namespace remotemac::worker
