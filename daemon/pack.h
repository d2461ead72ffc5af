#pragma once
// The records inside an unpacked pack frame (docs/protocol.md, "Frames"). Pure; the records point into the bytes given.
#include "common/digest.h"

#include <cstdint>
#include <span>
#include <vector>

namespace remotemac::daemon {

struct PackRecord {
  Digest digest;
  std::span<const std::uint8_t> bytes;
};

// Error protocol when the bytes do not divide into whole records. Digests are not verified here.
[[nodiscard]] Result<std::vector<PackRecord>> parse_pack(std::span<const std::uint8_t> unpacked);

} // namespace remotemac::daemon
