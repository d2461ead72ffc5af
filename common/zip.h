#pragma once
// Strict reading of zip archives held in memory, as numpy writes them (.npz): for archives where a hidden byte would be a leak.
// Not a general unzipper: whatever numpy does not write (comments, encryption, data descriptors, other extra fields) is refused.
// Sizes are bytes, offsets are counted from the start of the archive. Pure functions, safe from any thread. Errors: corrupt, with
// the offset at which the archive is not what it should be.
#include "common/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace remotemac::zip {

struct Entry {
  std::string name;
  std::uint64_t size = 0;            // after decompression
  std::uint64_t compressed_size = 0; // in the archive
  std::uint32_t crc = 0;
  std::uint64_t data_offset = 0;
  bool stored = true; // false: deflate
};

struct Limits {
  std::uint64_t total_bytes = 4ull << 30; // of all entries after decompression
  std::size_t entries = 65536;
};

// Strict: every byte of the file belongs to a local header, an entry's data, the central directory or the end record (zip64 as
// numpy writes it included); local and central headers agree; no duplicate names, no encryption, no absolute or .. names, no
// comment, no data between or after; methods stored and deflate only. In the order of the central directory.
[[nodiscard]] Result<std::vector<Entry>> list(std::span<const std::uint8_t> bytes, const Limits& limits = {});

// The content of one entry of list(bytes). Checks size and CRC; never grows past entry.size.
[[nodiscard]] Result<std::vector<std::uint8_t>> read(std::span<const std::uint8_t> bytes, const Entry& entry);

} // namespace remotemac::zip
