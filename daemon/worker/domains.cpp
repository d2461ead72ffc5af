#include "daemon/worker/domains.h"

#include "daemon/worker/domain_rules.h"

#include <algorithm>
#include <limits>

namespace remotemac::worker {
namespace {

using enum Domain;

class Planner {
public:
  Planner(const Signature& signature, std::span<const std::string> names) : m_signature(signature), m_names(names) {
    m_op = signature.op.substr(std::min(signature.op.find("::") + 2, signature.op.size()));
    if (m_op.size() > 1 && m_op.back() == '_')
      m_op.pop_back();
  }

  InputPlan run() {
    for (std::size_t i = 0; i < m_signature.args.size(); ++i)
      add(m_signature.args[i], i < m_names.size() ? m_names[i] : std::string(), 0);
    for (const auto& [name, value] : m_signature.kwargs)
      add(value, name, 0);
    for (const TensorPlan& plan : m_plan.tensors)
      m_plan.ambiguous = m_plan.ambiguous || plan.ambiguous;
    return std::move(m_plan);
  }

private:
  const Value* argument(std::string_view name) const {
    for (std::size_t i = 0; i < m_names.size() && i < m_signature.args.size(); ++i)
      if (m_names[i] == name)
        return &m_signature.args[i];
    const auto found = m_signature.kwargs.find(std::string(name));
    return found == m_signature.kwargs.end() ? nullptr : &found->second;
  }

  std::int64_t integer_argument(std::string_view name, std::int64_t otherwise) const {
    const Value* value = argument(name);
    return value != nullptr && value->kind == Value::Kind::integer ? value->integer : otherwise;
  }

  bool flag_argument(std::string_view name) const {
    const Value* value = argument(name);
    return value != nullptr && value->kind == Value::Kind::boolean && value->flag;
  }

  // Product of sizes; anything absurd ends as a bound that no index reaches.
  static std::int64_t product(std::span<const std::int64_t> sizes) {
    std::int64_t result = 1;
    for (const std::int64_t size : sizes)
      if (size < 0 || __builtin_mul_overflow(result, size, &result))
        return std::numeric_limits<std::int64_t>::max();
    return result;
  }

  std::int64_t bound_of(const Rule& rule, std::size_t item) const {
    if (rule.bound == Bound::fixed)
      return rule.number;
    if (rule.bound == Bound::argument)
      return std::max<std::int64_t>(integer_argument(rule.source, 1), 1);
    const Value* source = argument(rule.source);
    if (source == nullptr)
      return 1;
    if (rule.bound == Bound::area) {
      std::vector<std::int64_t> sizes;
      for (const Value& each : source->items)
        sizes.push_back(each.integer);
      return product(sizes);
    }
    if (source->kind != Value::Kind::tensor)
      return 1;
    return bound_in(rule, source->tensor.shape, item);
  }

  std::int64_t bound_in(const Rule& rule, std::span<const std::int64_t> shape, std::size_t item) const {
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto size = [&](std::int64_t dim) { return dim >= 0 && dim < rank ? shape[static_cast<std::size_t>(dim)] : std::int64_t{1}; };
    const auto last = [&](std::size_t count) { return product(shape.last(std::min(count, shape.size()))); };
    switch (rule.bound) {
    case Bound::of_dim: {
      const std::int64_t dim = integer_argument("dim", 0);
      return size(dim < 0 ? dim + rank : dim);
    }
    case Bound::rows:
      return size(0);
    case Bound::classes:
      return size(rank > 1 ? 1 : 0);
    case Bound::plane2:
      return last(2);
    case Bound::plane3:
      return last(3);
    case Bound::elements:
      return product(shape);
    case Bound::position:
      return size(static_cast<std::int64_t>(item));
    case Bound::batch_time:
      return size(flag_argument("batch_first") ? 1 : 0);
    case Bound::none:
    case Bound::argument:
    case Bound::area:
    case Bound::fixed:
      break;
    }
    return 1;
  }

  static bool is_index(Domain domain) { return domain == index || domain == unique_index || domain == unique_along; }

  void add_tensor(const TensorSpec& spec, const std::string& name, std::size_t item) {
    TensorPlan plan;
    plan.spec = spec;
    const bool floating = is_floating(spec.dtype);
    plan.domain = spec.dtype == "bool" ? boolean : normal;
    const Rule* rule = spec.dtype == "bool" ? nullptr : find_rule(m_op, name);
    // An index rule says nothing about a floating tensor (class probabilities), nor do ranges of reals about integers.
    if (rule != nullptr && is_index(rule->domain) && floating) {
      plan.domain = rows;
      plan.dim = spec.shape.size() > 1 ? 1 : 0;
    } else if (rule != nullptr && (floating || is_index(rule->domain) || rule->domain == constant || rule->domain == positive || rule->domain == sorted)) {
      plan.domain = rule->domain;
      plan.bound = rule->bound == Bound::none ? 0 : bound_of(*rule, item);
      plan.dim = integer_argument("dim", rule->bound == Bound::fixed && rule->domain == log_rows ? rule->number : -1);
    }
    settle(plan);
    m_plan.tensors.push_back(std::move(plan));
  }

  // Makes the plan fit its own shape.
  void settle(TensorPlan& plan) const {
    const auto rank = static_cast<std::int64_t>(plan.spec.shape.size());
    if (plan.dim < 0)
      plan.dim += rank;
    if (plan.dim < 0 || plan.dim >= rank)
      plan.dim = std::max<std::int64_t>(rank - 1, 0);
    if (is_index(plan.domain))
      plan.bound = std::max<std::int64_t>(plan.bound, 1);
    const auto elements = element_count(plan.spec);
    if (plan.domain == unique_index && elements > static_cast<std::uint64_t>(plan.bound)) {
      plan.domain = index;
      plan.ambiguous = !flag_argument("accumulate");
    }
    if (plan.domain == unique_along && rank > 0 && plan.spec.shape[static_cast<std::size_t>(plan.dim)] > plan.bound) {
      plan.domain = index;
      plan.ambiguous = true;
    }
    if ((plan.domain == positive_definite && (rank < 2 || plan.spec.shape[static_cast<std::size_t>(rank - 1)] != plan.spec.shape[static_cast<std::size_t>(rank - 2)])) ||
        ((plan.domain == rows || plan.domain == log_rows) && rank == 0))
      plan.domain = normal;
  }

  void add(const Value& value, const std::string& name, std::size_t item) {
    if (value.kind == Value::Kind::tensor) {
      add_tensor(value.tensor, name, item);
      return;
    }
    // The items of a list of indices stand for the dimensions in turn; a mask stands for as many as it has.
    std::size_t position = 0;
    for (const Value& each : value.items) {
      add(each, name, position);
      position += each.kind == Value::Kind::tensor && each.tensor.dtype == "bool" ? std::max<std::size_t>(each.tensor.shape.size(), 1) : 1;
    }
  }

  const Signature& m_signature;
  std::span<const std::string> m_names;
  std::string m_op;
  InputPlan m_plan;
};

} // namespace

std::string too_large(const Signature& signature, std::span<const std::string> names) {
  const auto size_like = [](std::string_view name) { return name == "size" || name == "sizes" || name == "repeats" || name == "shape" || name == "output_size" || name == "input_sizes"; };
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < signature.args.size() && i < names.size(); ++i) {
    if (names[i] == "repeats" && !signature.args.empty() && signature.args[0].kind == Value::Kind::tensor)
      elements = std::max<std::uint64_t>(element_count(signature.args[0].tensor), 1);
    if (signature.args[i].kind != Value::Kind::list || !size_like(names[i]))
      continue;
    for (const Value& item : signature.args[i].items)
      if (item.kind == Value::Kind::integer && item.integer > 0 && __builtin_mul_overflow(elements, static_cast<std::uint64_t>(item.integer), &elements))
        elements = std::numeric_limits<std::uint64_t>::max();
    // Expanding reads the same memory again and again: no memory is needed for it.
    const bool view = signature.op == "aten::expand" || signature.op == "aten::broadcast_to";
    if (!view && elements > k_max_elements)
      return "its result has " + std::to_string(elements) + " elements; the limit is " + std::to_string(k_max_elements);
  }
  return {};
}

InputPlan plan_inputs(const Signature& signature, std::span<const std::string> names) { return Planner(signature, names).run(); }

} // namespace remotemac::worker
