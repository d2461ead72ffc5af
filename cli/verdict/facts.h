#pragma once
// What several criteria ask of the evidence, worked out once. Borrows the evidence. Internal to cli/verdict.
#include "common/evidence.h"

#include <set>
#include <string>
#include <string_view>

namespace remotemac::verdict {

struct Facts {
  explicit Facts(const Evidence& given);

  const Evidence& evidence;
  bool strict_works = false;     // ended well and did work on the device, fallback off
  bool permissive_works = false; // the same with fallback allowed
  bool simulated = false;        // one document says so
  bool simulation_unknown = false;
  std::string simulation_reason;
  const HarnessDocument* run =
      nullptr;               // the mini-run that counts: strict before permissive, one that works before one that does not
  std::string_view run_name; // strict, permissive
  std::string_view failure;  // cause id: why neither works; "" when one does
  bool reference_usable = false;
  bool reference_cuda = false;

  // Did the permissive run get past this refusal of the strict one?
  [[nodiscard]] bool helped_by_fallback(const UnsupportedUse& use) const;
  [[nodiscard]] bool works() const { return strict_works || permissive_works; }
  // Does the run use the operator (with or without overload, in-place or not) on the device? Unknown counts as yes.
  [[nodiscard]] bool uses(std::string_view op) const;
  // The same for an operator that the run never gave to the CPU.
  [[nodiscard]] bool uses_only_on_device(std::string_view op) const;

private:
  std::set<std::string, std::less<>> m_on_device;
  std::set<std::string, std::less<>> m_on_cpu;
};

[[nodiscard]] bool ended_well(const HarnessDocument& run);
// Did the run end at this refusal? A refusal that the project caught is not what ended it.
[[nodiscard]] bool ended_at(const HarnessDocument& run, const UnsupportedUse& use);
[[nodiscard]] bool is_float64(const UnsupportedUse& use);
// aten::add_.Tensor -> aten::add
[[nodiscard]] std::string base_name(std::string_view op);
// "TypeError: ... (train.py:12)", "exit status 3", "ended before the document was finished".
[[nodiscard]] std::string how_it_ended(const HarnessDocument& run);
// "aten::x" or "an operation without a name", with the place.
[[nodiscard]] std::string refusal_text(const UnsupportedUse& use);

} // namespace remotemac::verdict
