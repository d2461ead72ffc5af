#pragma once
// Reads a recording ("remotemac-recording", docs/evidence.md) that came from another machine. The document itself must be sound,
// else the whole recording is refused; one unsound signature is kept with its `problem`, so that its index stays right.
#include "common/result.h"
#include "daemon/worker/signature.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::worker {

struct Recording {
  std::string torch;
  std::vector<Signature> signatures;
};

inline constexpr std::size_t k_max_recording_bytes = std::size_t{64} << 20;
inline constexpr std::size_t k_max_signatures = 100'000;

[[nodiscard]] Result<Recording> parse_recording(std::string_view text);
[[nodiscard]] Result<Recording> read_recording(const std::filesystem::path& file);

} // namespace remotemac::worker
