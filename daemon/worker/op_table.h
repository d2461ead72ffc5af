#pragma once
// The operators that the battery tries: one row each, a function from the batch size to a call. Data only.
#include "daemon/worker/signature.h"

#include <span>
#include <string_view>

namespace remotemac::worker {

enum class Differentiable { no, yes };
enum class Repeated { no, yes };

struct Sample {
  std::string_view name; // part of case ids, so it never changes
  Signature (*make)(std::int64_t batch);
  Differentiable differentiable;
  Repeated repeated; // in the repeat group of the quick profile; the others take all
};

[[nodiscard]] std::span<const Sample> all_samples();

} // namespace remotemac::worker
