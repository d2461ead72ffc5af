#include "daemon/worker/translate.h"

#include <algorithm>
#include <array>

namespace remotemac::worker {
namespace {

constexpr std::size_t k_absent = 99;
constexpr std::string_view k_attention = "aten::scaled_dot_product_attention";

// Positions, in the recorded call, of the arguments of scaled_dot_product_attention(q, k, v, mask, dropout, causal).
struct AttentionRow {
  std::string_view from;
  std::array<std::size_t, 6> positions;
};
constexpr AttentionRow k_attentions[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu", {0, 1, 2, k_absent, 3, 4}},
    {"aten::_scaled_dot_product_flash_attention", {0, 1, 2, k_absent, 3, 4}},
    {"aten::_scaled_dot_product_efficient_attention", {0, 1, 2, 3, 5, 6}},
    {"aten::_scaled_dot_product_cudnn_attention", {0, 1, 2, 3, 5, 6}},
    {"aten::_scaled_dot_product_fused_attention_overrideable", {0, 1, 2, 3, 4, 5}},
};

// Same arguments, other name.
struct RenameRow {
  std::string_view from;
  std::string_view to;
};
constexpr RenameRow k_renames[] = {
    {"aten::cudnn_batch_norm", "aten::native_batch_norm"},
    {"aten::miopen_batch_norm", "aten::native_batch_norm"},
};

struct ForeignRow {
  std::string_view prefix;
  std::string_view reason;
};
constexpr ForeignRow k_foreign[] = {
    {"aten::_scaled_dot_product_", "attention is computed by another operator on MPS; its backward pass is not replayed"},
    {"aten::_flash_attention_", "attention is computed by another operator on MPS"},
    {"aten::_efficient_attention_", "attention is computed by another operator on MPS"},
    {"aten::mkldnn_rnn_layer", "an operator of the CPU only; recurrent layers have their own operators on MPS"},
    {"aten::_cudnn_rnn", "an operator of CUDA only; recurrent layers have their own operators on MPS"},
    {"aten::_thnn_fused_", "an operator of CUDA only; recurrent layers have their own operators on MPS"},
    {"aten::_thnn_differentiable_", "an operator of CUDA only; recurrent layers have their own operators on MPS"},
    {"aten::mkldnn_", "an operator of the CPU only"},
    {"aten::_mkldnn_", "an operator of the CPU only"},
    {"aten::cudnn_", "an operator of CUDA only"},
    {"aten::_cudnn_", "an operator of CUDA only"},
    {"aten::miopen_", "an operator of ROCm only"},
    {"aten::_cuda_", "an operator of CUDA only"},
    {"aten::_pin_memory", "memory management of the host"},
    {"aten::from_file", "reads a file"},
};

std::string renamed(Signature& signature, std::string_view to) {
  const std::string from = signature.op;
  signature.op = std::string(to);
  signature.overload.clear();
  return "replayed as " + signature.op + ", the form of " + from + " that every device has";
}

std::string as_attention(Signature& signature, const AttentionRow& row) {
  std::vector<Value> args;
  for (std::size_t i = 0; i < row.positions.size(); ++i) {
    const std::size_t position = row.positions[i];
    if (position < signature.args.size())
      args.push_back(signature.args[position]);
    else
      args.push_back(i == 3 ? none() : i == 4 ? real(0) : boolean(false));
  }
  for (const std::string_view name : {"attn_mask", "attn_bias"})
    if (const auto found = signature.kwargs.find(std::string(name)); found != signature.kwargs.end())
      args[3] = found->second;
  const auto scale = signature.kwargs.find("scale");
  std::map<std::string, Value> kwargs;
  if (scale != signature.kwargs.end())
    kwargs.emplace("scale", scale->second);
  signature.args = std::move(args);
  signature.kwargs = std::move(kwargs);
  return renamed(signature, k_attention);
}

} // namespace

std::string translate(Signature& signature) {
  if (const auto* row = std::ranges::find(k_attentions, signature.op, &AttentionRow::from); row != std::end(k_attentions))
    return as_attention(signature, *row);
  if (const auto* row = std::ranges::find(k_renames, signature.op, &RenameRow::from); row != std::end(k_renames))
    return renamed(signature, row->to);
  const bool own = signature.op.find("_for_mps") != std::string::npos || signature.op == "aten::_scaled_dot_product_attention_math";
  for (const ForeignRow& row : k_foreign)
    if (!own && signature.op.starts_with(row.prefix) && signature.problem.empty())
      signature.problem = std::string(row.reason);
  return {};
}

} // namespace remotemac::worker
