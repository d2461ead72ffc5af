#include "daemon/worker/comparison.h"

#include <algorithm>

namespace remotemac::worker {
namespace {

struct Row {
  std::string_view op;
  Comparison comparison;
};

using enum Comparison;

constexpr Row k_rows[] = {
    {"aten::empty", shapes},          {"aten::empty_like", shapes},       {"aten::empty_strided", shapes}, {"aten::empty_permuted", shapes},
    {"aten::new_empty", shapes},      {"aten::new_empty_strided", shapes}, {"aten::resize_", shapes},      {"aten::resize_as_", shapes},
    {"aten::native_dropout", shapes}, {"aten::_efficientzerotensor", shapes},
    {"aten::linalg_svd", magnitudes}, {"aten::_linalg_svd", magnitudes},  {"aten::svd", magnitudes},       {"aten::linalg_eigh", magnitudes},
    {"aten::_linalg_eigh", magnitudes}, {"aten::linalg_qr", magnitudes},  {"aten::qr", magnitudes},        {"aten::geqrf", magnitudes},
};

// Their integer outputs say where a value was found.
constexpr std::string_view k_where[] = {"aten::sort", "aten::topk",    "aten::max",      "aten::min",  "aten::argmax", "aten::argmin", "aten::argsort", "aten::median",
                                        "aten::nanmedian", "aten::kthvalue", "aten::mode", "aten::cummax", "aten::cummin", "aten::max_pool2d_with_indices",
                                        "aten::max_pool3d_with_indices", "aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d"};

// Switches of chance, and whether it is off where the switch is not given.
struct Switch {
  std::string_view name;
  bool off_by_default;
};
constexpr Switch k_switches[] = {{"dropout_p", true}, {"dropout", false}, {"p", false}, {"training", true}, {"train", false}};

bool is_off(const Value& value) {
  return (value.kind == Value::Kind::real && value.real == 0) || (value.kind == Value::Kind::integer && value.integer == 0) ||
         (value.kind == Value::Kind::boolean && !value.flag);
}

const Value* argument(const Signature& signature, std::span<const std::string> names, std::string_view name) {
  if (const auto named = signature.kwargs.find(std::string(name)); named != signature.kwargs.end())
    return &named->second;
  for (std::size_t i = 0; i < std::min(names.size(), signature.args.size()); ++i)
    if (names[i] == name)
      return &signature.args[i];
  return nullptr;
}

} // namespace

bool without_chance(const Signature& signature, std::span<const std::string> names) {
  return std::ranges::any_of(k_switches, [&](const Switch& each) {
    if (std::ranges::find(names, each.name) == names.end())
      return false;
    const Value* value = argument(signature, names, each.name);
    return value == nullptr ? each.off_by_default : is_off(*value);
  });
}

Comparison comparison_of(std::string_view op, Ties ties) {
  const auto* row = std::ranges::find(k_rows, op, &Row::op);
  if (row != std::end(k_rows))
    return row->comparison;
  if (ties == Ties::possible && std::ranges::find(k_where, op) != std::end(k_where))
    return reals;
  return values;
}

bool may_change(std::string_view argument) { return argument == "running_mean" || argument == "running_var"; }

} // namespace remotemac::worker
