#pragma once
// Memory of the simulated device: ordinary host memory that libtorch believes to be on mps:0, counted. Either allocated for the
// device, or taken over from a CPU storage (the result of a computation) without copying. Thread-safe.
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <cstddef>

namespace remotemac::sim {

[[nodiscard]] c10::DeviceAllocator& device_allocator();
// The same bytes, on the device; keeps `cpu` alive.
[[nodiscard]] c10::DataPtr take_over(c10::Storage cpu);

[[nodiscard]] std::size_t allocated_bytes();
[[nodiscard]] std::size_t driver_bytes(); // as a caching allocator: falls only when the cache is emptied
[[nodiscard]] std::size_t recommended_bytes();
void empty_cache();
void set_memory_fraction(double fraction);

// The genuine TypeError when tensors of this dtype cannot exist on the device.
void check_dtype(c10::ScalarType dtype);

} // namespace remotemac::sim
