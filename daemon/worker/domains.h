#pragma once
// Which values an operator's tensors may hold: indices within range, probabilities, positive definite matrices. A recording has no
// values, so the replay makes them; values outside an operator's domain would prove nothing. One rule table, by operator and
// argument name. Pure: knows signatures and argument names, not libtorch.
#include "daemon/worker/signature.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace remotemac::worker {

enum class Domain {
  normal,            // standard normal; integers from -5 to 5
  positive,          // 0.5 to 1.5; integers from 1 to 5
  above_one,         // 1.5 to 2.5
  unit,              // 0.05 to 0.95
  symmetric,         // -1 to 1
  rows,              // softmax along `dim`
  log_rows,          // log of that
  constant,          // every element is `bound`
  index,             // 0 to bound - 1
  unique_index,      // the same, none twice where there are enough
  unique_along,      // the same, none twice along `dim`
  boolean,
  positive_definite, // symmetric, well conditioned
  sorted,            // ascending along the last dimension
};

// One tensor of a signature, in the order of visit_tensors().
struct TensorPlan {
  TensorSpec spec;
  Domain domain = Domain::normal;
  std::int64_t bound = 0;
  std::int64_t dim = -1;
  bool ambiguous = false; // the result depends on the order of writes: values are not compared
};

struct InputPlan {
  std::vector<TensorPlan> tensors;
  bool ambiguous = false;
};

// `names`: the operator's argument names in order.
// Why the call would need too much memory whatever its inputs are (sizes and repeats among the arguments); "" when it would not.
[[nodiscard]] std::string too_large(const Signature& signature, std::span<const std::string> names);
[[nodiscard]] InputPlan plan_inputs(const Signature& signature, std::span<const std::string> names);

} // namespace remotemac::worker
