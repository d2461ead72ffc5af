#pragma once
// One signature made ready to be called, and one call of it on a device or as the reference. Nothing here throws: what libtorch
// throws is in the result. One thread.
#include "daemon/worker/torch_call.h"
#include "daemon/worker/torch_inputs.h"

#include <string>
#include <vector>

namespace remotemac::worker {

[[nodiscard]] const c10::Device& host();

// Everything needed to call one signature.
struct Prepared {
  Operator op;
  Inputs inputs;
};

// Error project when the signature cannot be replayed, or would need too much memory.
[[nodiscard]] Result<Prepared> prepare(const Signature& signature);

struct Run {
  CallResult result;
  std::vector<at::Tensor> tensors;
  std::string unusable; // why it could not be called at all
};

enum class What { outputs, gradients };

[[nodiscard]] Run run_on(const Prepared& prepared, const Signature& signature, const Target& target, What what,
                         Inputs::Placing placing = Inputs::Placing::recorded);

// The input tensors that the operator must not write hold what they held before; else what changed.
[[nodiscard]] std::string changed_inputs(const Prepared& prepared, const Signature& signature, const Run& run);

} // namespace remotemac::worker
