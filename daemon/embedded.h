#pragma once
// Files that the build puts into the program (cmake/Embed.cmake).
#include <span>
#include <string_view>

namespace remotemac::embedded {
struct File {
  std::string_view name;
  std::string_view text;
};

// The Python package remotemac_harness.
[[nodiscard]] std::span<const File> harness();
} // namespace remotemac::embedded
