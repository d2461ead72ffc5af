#include "tests/standin/sim/effects.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty_like.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <torch/csrc/autograd/function.h>
#include <unistd.h>

namespace remotemac::sim {
namespace {

bool scattered(const c10::IValue& value) {
  if (value.isTensor())
    return value.toTensor().defined() && !value.toTensor().is_contiguous();
  if (value.isTensorList())
    return std::ranges::any_of(value.toTensorVector(), [](const at::Tensor& tensor) { return tensor.defined() && !tensor.is_contiguous(); });
  return false;
}

// Visibly other values, the same for the same input; NaN and infinity stay.
at::Tensor disturbed(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() == 0 || !tensor.is_cpu())
    return tensor;
  // In place wherever every element has its own place: written arguments must change themselves.
  at::Tensor target = tensor.is_non_overlapping_and_dense() || tensor.numel() == 1 ? tensor : tensor.clone();
  if (target.scalar_type() == at::kBool)
    target.logical_not_();
  else if (target.is_floating_point() || target.is_complex())
    target.mul_(1.25).add_(0.125);
  else
    target.add_(1);
  return target;
}

void disturb(c10::IValue& value) {
  if (value.isTensor()) {
    value = disturbed(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector())
      list.push_back(disturbed(tensor));
    value = std::move(list);
  }
}

std::string current_node() {
  const auto node = torch::autograd::get_current_node();
  return node ? node->name() : std::string();
}

} // namespace

Effects::Effects(std::string name, const std::vector<Fault>& faults) : m_name(std::move(name)), m_faults(faults) {}

bool Effects::any() const { return !m_faults.empty() || Faults::loaded().any_gradient(); }

const Fault* Effects::find(FaultKind kind) const {
  const auto found = std::ranges::find(m_faults, kind, &Fault::kind);
  return found == m_faults.end() ? nullptr : &*found;
}

void Effects::before() {
  if (const Fault* fault = find(FaultKind::slow))
    std::this_thread::sleep_for(std::chrono::milliseconds(fault->number));
  if (find(FaultKind::crash) != nullptr) {
    std::fprintf(stderr, "simulated MPSGraph: failed assertion `fault injected in %s'\n", m_name.c_str());
    std::fflush(stderr);
    std::abort();
  }
  if (find(FaultKind::hang) != nullptr)
    for (;;)
      pause();
}

bool Effects::wrong_now(const std::vector<c10::IValue>& inputs) {
  if (find(FaultKind::wrong_value) != nullptr)
    return true;
  if (find(FaultKind::wrong_layout) != nullptr && std::ranges::any_of(inputs, scattered))
    return true;
  if (find(FaultKind::wrong_repeat) != nullptr && m_calls.fetch_add(1) > 0)
    return true;
  return Faults::loaded().any_gradient() && Faults::loaded().gradient(m_name, current_node());
}

void Effects::after(const c10::FunctionSchema& schema, const std::vector<c10::IValue>& inputs, std::vector<c10::IValue>& stack, std::size_t base) {
  if (!wrong_now(inputs))
    return;
  if (stack.size() > base) {
    for (std::size_t i = base; i < stack.size(); ++i)
      disturb(stack[i]);
    return;
  }
  // Nothing returned: the written arguments are the results.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite()) {
      c10::IValue written = inputs[i];
      disturb(written);
    }
  }
}

} // namespace remotemac::sim
