#pragma once
// A probe group: what the machine battery tries, as data. A group is one file that makes its cases and one line in the table of
// probe_registry.cpp. Making cases is pure; the engine runs them, each group in its own process.
#include "daemon/worker/signature.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::worker {

enum class Profile { quick, standard, full };
[[nodiscard]] std::optional<Profile> profile_from_name(std::string_view name);

enum class Check {
  forward,    // against the reference
  layout,     // the same, and against the device's own result for contiguous inputs
  gradient,   // gradients against those of the reference
  repeat,     // many calls bit-identical, also after another shape
  round_trip, // to the device and back, bit-identical
  dtype,      // can a tensor of this dtype exist? Refusals are facts
  replay,     // forward, with time and the words of the replay
};

struct Case {
  std::string id;   // "layout.softplus.transposed"
  std::string name; // "transposed"
  Check check = Check::forward;
  Signature signature;
  std::optional<Signature> other; // called between two calls of `signature` (repeat)
  int repeats = 1;
};

struct Probe {
  std::string_view name;
  std::string_view purpose;
  std::vector<Case> (*cases)(Profile profile);
};

[[nodiscard]] std::span<const Probe> all_probes();
[[nodiscard]] const Probe* find_probe(std::string_view name);

std::vector<Case> device_cases(Profile profile);
std::vector<Case> layout_cases(Profile profile);
std::vector<Case> backward_cases(Profile profile);
std::vector<Case> repeat_cases(Profile profile);
std::vector<Case> dtype_cases(Profile profile);

} // namespace remotemac::worker
