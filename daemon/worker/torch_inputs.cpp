#include "daemon/worker/torch_inputs.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>
#include <algorithm>

namespace remotemac::worker {
namespace {

struct TypeRow {
  std::string_view name;
  c10::ScalarType type;
};
constexpr TypeRow k_types[] = {
    {"float32", at::kFloat}, {"float64", at::kDouble},         {"float16", at::kHalf},             {"bfloat16", at::kBFloat16},          {"complex64", at::kComplexFloat}, {"complex128", at::kComplexDouble},
    {"complex32", at::kComplexHalf}, {"int8", at::kChar},      {"int16", at::kShort},              {"int32", at::kInt},                  {"int64", at::kLong},             {"uint8", at::kByte},
    {"bool", at::kBool},
};

std::vector<std::int64_t> drawn_shape(const TensorSpec& spec) {
  std::vector<std::int64_t> shape = spec.shape;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (spec.stride[i] == 0 && shape[i] > 1)
      shape[i] = 1;
  return shape;
}

// reproduce.cpp writes the same expressions in Python: change both or none.
at::Tensor draw(const TensorPlan& plan) {
  const std::vector<std::int64_t> shape = drawn_shape(plan.spec);
  const bool real = is_floating(plan.spec.dtype);
  const auto wide = at::TensorOptions().dtype(plan.spec.dtype.starts_with("complex") ? at::kComplexDouble : at::kDouble);
  const auto integers = at::TensorOptions().dtype(at::kLong);
  switch (plan.domain) {
  case Domain::normal:
    return real ? at::randn(shape, wide) : at::randint(plan.spec.dtype == "uint8" ? 0 : -5, 6, shape, integers);
  case Domain::positive:
    return real ? at::rand(shape, wide) + 0.5 : at::randint(1, 6, shape, integers);
  case Domain::above_one:
    return at::rand(shape, wide) + 1.5;
  case Domain::unit:
    return at::rand(shape, wide) * 0.9 + 0.05;
  case Domain::symmetric:
    return at::rand(shape, wide) * 2 - 1;
  case Domain::rows:
    return at::softmax(at::randn(shape, wide), plan.dim);
  case Domain::log_rows:
    return at::log_softmax(at::randn(shape, wide), plan.dim);
  case Domain::constant:
    return at::full(shape, plan.bound, integers);
  case Domain::index:
    return at::randint(0, plan.bound, shape, integers);
  case Domain::unique_index:
    return at::argsort(at::rand({plan.bound})).slice(0, 0, static_cast<std::int64_t>(element_count(plan.spec))).reshape(plan.spec.shape);
  case Domain::unique_along:
    return at::argsort(at::rand(plan.spec.shape), plan.dim);
  case Domain::boolean:
    return at::lt(at::rand(shape), 0.5);
  case Domain::positive_definite: {
    const std::int64_t size = plan.spec.shape.back();
    const at::Tensor root = at::randn(plan.spec.shape, wide);
    return at::matmul(root, root.transpose(-2, -1)) + at::eye(size) * size;
  }
  case Domain::sorted:
    return std::get<0>(at::sort(real ? at::randn(shape, wide) : at::randint(-5, 6, shape, integers), -1));
  }
  return {};
}

} // namespace

std::optional<c10::ScalarType> scalar_type(std::string_view dtype) {
  const auto* row = std::ranges::find(k_types, dtype, &TypeRow::name);
  return row == std::end(k_types) ? std::nullopt : std::optional(row->type);
}

std::string dtype_name(c10::ScalarType type) {
  const auto* row = std::ranges::find(k_types, type, &TypeRow::type);
  return row == std::end(k_types) ? std::string(c10::toString(type)) : std::string(row->name);
}

c10::ScalarType widened(c10::ScalarType type) {
  if (c10::isComplexType(type))
    return at::kComplexDouble;
  return c10::isFloatingType(type) ? at::kDouble : type;
}

Inputs::Inputs(const InputPlan& plan) : m_plan(plan) {
  at::manual_seed(0);
  for (const TensorPlan& each : m_plan.tensors)
    m_values.push_back(draw(each).to(scalar_type(each.spec.dtype).value_or(at::kFloat)));
}

std::vector<at::Tensor> Inputs::place(const c10::Device& device, Precision precision, Placing placing) const {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    TensorSpec spec = m_plan.tensors[i].spec;
    const at::Tensor& values = m_values[i];
    if (placing == Placing::contiguous) {
      spec.stride = contiguous_stride(spec.shape);
      spec.offset = 0;
    }
    const auto type = precision == Precision::wide ? widened(values.scalar_type()) : values.scalar_type();
    const at::Tensor memory = at::zeros({static_cast<std::int64_t>(storage_elements(spec).value_or(0))}, at::TensorOptions().dtype(type));
    memory.as_strided(placing == Placing::contiguous ? spec.shape : values.sizes().vec(), spec.stride, spec.offset).copy_(values);
    const c10::Device target = spec.stays_on_host ? c10::Device(c10::DeviceType::CPU) : device;
    at::Tensor placed = memory.to(target).as_strided(spec.shape, spec.stride, spec.offset);
    if (spec.requires_grad)
      placed.requires_grad_();
    tensors.push_back(std::move(placed));
  }
  return tensors;
}

} // namespace remotemac::worker
