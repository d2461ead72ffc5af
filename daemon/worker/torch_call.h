#pragma once
// Calls operators by name through the dispatcher, as a project's Python does, and says in words what went wrong. Nothing here throws.
#include "common/result.h"
#include "daemon/worker/signature.h"
#include "daemon/worker/torch_inputs.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <functional>
#include <string>
#include <vector>

namespace remotemac::worker {

struct Operator {
  c10::OperatorHandle handle;
  std::vector<std::string> names; // of its arguments
  bool random = false;             // its values are drawn
};
// Error project when there is no such operator in this version of torch, or when it must not be called from a recording.
[[nodiscard]] Result<Operator> find_operator(const Signature& signature);

struct Target {
  c10::Device device;
  Precision precision = Precision::recorded;
};
// The arguments in the schema's order; `tensors` as Inputs made them.
[[nodiscard]] Result<std::vector<c10::IValue>> build_arguments(const Operator& op, const Signature& signature, const std::vector<at::Tensor>& tensors, const Target& target);

enum class Trouble { none, missing_operator, refused_dtype, out_of_memory, other };

struct CallResult {
  Trouble trouble = Trouble::none;
  std::string message;
  std::vector<at::Tensor> outputs; // returned tensors and numbers, then written arguments
  [[nodiscard]] bool ok() const { return trouble == Trouble::none; }
};
[[nodiscard]] CallResult call(const Operator& op, std::vector<c10::IValue> arguments);
// Calls with gradients on, and differentiates by those of `tensors` that want it, with upstream gradients drawn with seed 1 (other
// than one). Outputs are the gradients.
[[nodiscard]] CallResult call_gradient(const Operator& op, std::vector<c10::IValue> arguments, const std::vector<at::Tensor>& tensors);

// Runs `work`, turning what libtorch throws into a CallResult.
[[nodiscard]] CallResult guarded(const std::function<std::vector<at::Tensor>()>& work);

} // namespace remotemac::worker
