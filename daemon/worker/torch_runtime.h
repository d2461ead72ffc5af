#pragma once
// The process-wide side of libtorch: versions, device, simulation marker, warnings. Includes only cheap libtorch headers.
#include "common/result.h"

#include <c10/core/Device.h>
#include <memory>
#include <string>
#include <vector>

namespace remotemac::worker {

[[nodiscard]] Result<void> load_libraries(const std::vector<std::string>& files);
[[nodiscard]] Result<c10::Device> open_device(const std::string& name);
void synchronize(const c10::Device& device);
struct Simulation {
  bool value = false;
  std::string reason;
};
[[nodiscard]] Simulation simulation(const c10::Device& device);

// Hears the warnings of falling back to the CPU, every one of them, while it lives; others are dropped. One at a time.
class FallbackWatch {
public:
  FallbackWatch();
  ~FallbackWatch();
  FallbackWatch(const FallbackWatch&) = delete;
  FallbackWatch& operator=(const FallbackWatch&) = delete;
  [[nodiscard]] const std::vector<std::string>& operators() const; // in order, each once

private:
  struct Handler;
  std::unique_ptr<Handler> m_handler;
};

} // namespace remotemac::worker
