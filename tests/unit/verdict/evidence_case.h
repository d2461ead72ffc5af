#pragma once
// Evidence to start from: a real Mac where everything is shown, and the stand-in on which `digits` runs. Tests change one thing.
#include "common/evidence.h"

#include <functional>
#include <string>
#include <vector>

namespace remotemac::testing {

[[nodiscard]] HarnessDocument mini_run_on_mac(const std::string& fallback);
// All twelve criteria pass.
[[nodiscard]] Evidence everything_shown();
// Linux, simulated MPS, a CPU reference; all else is well.
[[nodiscard]] Evidence digits_on_stand_in();
// The strict and permissive runs end at the same refusal of float64.
void end_at_float64(Evidence& evidence);
// The strict run ends at an operation that the permissive one gives to the CPU.
void need_fallback(Evidence& evidence);

struct Part {
  std::string name;
  std::function<void(Evidence&)> remove;
};
// Everything that can be missing.
[[nodiscard]] const std::vector<Part>& removable_parts();

} // namespace remotemac::testing
