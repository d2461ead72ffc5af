#pragma once
// zstd with caps: output size and window are limited before memory is taken, so a hostile peer cannot exhaust us.
#include "common/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace remotemac {

[[nodiscard]] Result<std::vector<std::uint8_t>> zstd_compress(std::span<const std::uint8_t> bytes, int level);
// Exactly one frame; error protocol when broken, followed by more bytes, needing a window over 2^23 or unpacking to more than max_bytes.
[[nodiscard]] Result<std::vector<std::uint8_t>> zstd_decompress(std::span<const std::uint8_t> bytes, std::size_t max_bytes);

} // namespace remotemac
