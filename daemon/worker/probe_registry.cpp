#include "daemon/worker/probe.h"

#include <algorithm>

namespace remotemac::worker {
namespace {

constexpr Probe k_probes[] = {
    {"device", "allocation, copies, dtypes, and the basic operations on contiguous inputs", &device_cases},
    {"layout", "transposed, strided, offset, channels_last and expanded inputs", &layout_cases},
    {"backward", "gradients, apart from the forward result", &backward_cases},
    {"repeat", "the same call again and again, and after another shape", &repeat_cases},
    {"dtype", "half precision against float64", &dtype_cases},
};

} // namespace

std::span<const Probe> all_probes() { return k_probes; }

const Probe* find_probe(std::string_view name) {
  const auto* found = std::ranges::find(k_probes, name, &Probe::name);
  return found == std::end(k_probes) ? nullptr : found;
}

std::optional<Profile> profile_from_name(std::string_view name) {
  if (name == "quick")
    return Profile::quick;
  if (name == "standard")
    return Profile::standard;
  if (name == "full")
    return Profile::full;
  return std::nullopt;
}

} // namespace remotemac::worker
