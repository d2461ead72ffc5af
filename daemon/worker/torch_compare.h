#pragma once
// Compares the outputs of two calls, tensor by tensor. The reference is float64 on the CPU.
#include "daemon/worker/bands.h"
#include "daemon/worker/comparison.h"

#include <ATen/core/Tensor.h>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::worker {

struct Verdict {
  std::string difference_in_kind; // other number of outputs, shapes or dtypes; "" when alike
  Difference difference;
};

// `actual` may lie on the device. Tolerances are those of the dtype of `actual`.
[[nodiscard]] Verdict compare_outputs(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected, const std::string& op, Comparison how);
// Shapes of two lists of outputs; "" when alike.
[[nodiscard]] std::string compare_shapes(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected);
// dtypes of device and CPU in the same precision; "" when alike.
[[nodiscard]] std::string compare_dtypes(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected);
[[nodiscard]] bool bit_identical(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& other);
// Copies on the CPU, so that later calls cannot change them.
[[nodiscard]] std::vector<at::Tensor> snapshot(const std::vector<at::Tensor>& tensors);

} // namespace remotemac::worker
