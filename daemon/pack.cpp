#include "daemon/pack.h"

#include "daemon/blob_store.h"

#include <algorithm>

namespace remotemac::daemon {

Result<std::vector<PackRecord>> parse_pack(std::span<const std::uint8_t> unpacked) {
  constexpr std::size_t head = 32 + 4;
  std::vector<PackRecord> out;
  while (!unpacked.empty()) {
    if (unpacked.size() < head)
      return Error(ErrorCode::protocol, "a pack ends inside a record");
    PackRecord record;
    std::copy_n(unpacked.begin(), 32, record.digest.bytes.begin());
    std::size_t size = 0;
    for (const std::uint8_t byte : unpacked.subspan(32, 4))
      size = (size << 8) | byte;
    if (size > k_blob_max_bytes)
      return Error(ErrorCode::protocol, "a record in a pack is larger than 8 MiB");
    if (size > unpacked.size() - head)
      return Error(ErrorCode::protocol, "a record in a pack is longer than the pack");
    record.bytes = unpacked.subspan(head, size);
    out.push_back(record);
    unpacked = unpacked.subspan(head + size);
  }
  return out;
}

} // namespace remotemac::daemon
