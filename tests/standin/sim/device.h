#pragma once
// The random numbers of the simulated device. Everything else about the device is registered with libtorch on loading.
#include <ATen/core/Generator.h>
#include <optional>

namespace remotemac::sim {

// The host generator that stands behind a device generator (or behind the default one). Refuses generators of other devices.
[[nodiscard]] at::Generator host_generator(const std::optional<at::Generator>& generator);

} // namespace remotemac::sim
