#pragma once
// Makes the tensors of a signature, with values of their domain and the recorded strides, on a device or as the float64 reference.
// The values come from torch's CPU generator with seed 0, drawn in order exactly as reproduce() writes them down. Throws what
// libtorch throws.
#include "daemon/worker/domains.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <optional>
#include <vector>

namespace remotemac::worker {

enum class Precision { recorded, wide }; // wide: float64 and complex128 in place of the narrower ones

[[nodiscard]] std::optional<c10::ScalarType> scalar_type(std::string_view dtype);
[[nodiscard]] std::string dtype_name(c10::ScalarType type);
[[nodiscard]] c10::ScalarType widened(c10::ScalarType type);

class Inputs {
public:
  // Draws the values.
  explicit Inputs(const InputPlan& plan);
  // `contiguous`: the same values in ordinary memory.
  enum class Placing { recorded, contiguous };
  [[nodiscard]] std::vector<at::Tensor> place(const c10::Device& device, Precision precision, Placing placing = Placing::recorded) const;
  [[nodiscard]] const InputPlan& plan() const { return m_plan; }

private:
  InputPlan m_plan;
  std::vector<at::Tensor> m_values;
};

} // namespace remotemac::worker
