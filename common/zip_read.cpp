#include "common/zip.h"

#include <algorithm>
#include <memory>
#include <zlib.h>

namespace remotemac::zip {
namespace {

Error bad(const Entry& entry, const std::string& what) {
  return Error(ErrorCode::corrupt, "the entry '" + entry.name + "' of a zip archive " + what + " (its data begin at byte " +
                                       std::to_string(entry.data_offset) + ")");
}

std::uint32_t crc_of(std::span<const std::uint8_t> bytes) {
  uLong crc = ::crc32_z(0, nullptr, 0);
  return static_cast<std::uint32_t>(::crc32_z(crc, bytes.data(), bytes.size()));
}

struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() { ready = ::inflateInit2(&stream, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready)
      ::inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

constexpr std::size_t k_step_bytes = std::size_t{16} << 20;

// Memory grows with what really comes out, never with what the header promises.
Result<std::vector<std::uint8_t>> inflate_all(std::span<const std::uint8_t> from, const Entry& entry) {
  Inflater inflater;
  if (!inflater.ready)
    return Error(ErrorCode::internal, "zlib could not be started");
  z_stream& stream = inflater.stream;
  std::vector<std::uint8_t> out;
  std::size_t made = 0;
  std::uint8_t beyond = 0; // one byte more than promised is room enough to see the lie
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min(from.size(), k_step_bytes);
      stream.next_in = const_cast<Bytef*>(from.data()); // zlib does not write to its input
      stream.avail_in = static_cast<uInt>(next);
      from = from.subspan(next);
    }
    const bool full = made == entry.size;
    if (!full && made == out.size())
      out.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(entry.size, made + std::clamp<std::size_t>(made, 65536, k_step_bytes))));
    const std::size_t room = full ? 1 : out.size() - made;
    stream.next_out = full ? &beyond : out.data() + made;
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = room - stream.avail_out;
    if (full && got > 0)
      return bad(entry, "is larger than its header says");
    made += got;
    if (status == Z_BUF_ERROR && stream.avail_in == 0 && from.empty())
      return bad(entry, "ends in the middle of its compressed data");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      return bad(entry, "has damaged compressed data");
  }
  if (stream.avail_in != 0 || !from.empty())
    return bad(entry, "has bytes after its compressed data");
  out.resize(made);
  return out;
}

} // namespace

Result<std::vector<std::uint8_t>> read(std::span<const std::uint8_t> bytes, const Entry& entry) {
  if (entry.data_offset > bytes.size() || entry.compressed_size > bytes.size() - entry.data_offset)
    return bad(entry, "reaches beyond the archive");
  const std::span<const std::uint8_t> data =
      bytes.subspan(static_cast<std::size_t>(entry.data_offset), static_cast<std::size_t>(entry.compressed_size));
  std::vector<std::uint8_t> out;
  if (entry.stored) {
    out.assign(data.begin(), data.end());
  } else {
    RM_ASSIGN(out, inflate_all(data, entry));
  }
  if (out.size() != entry.size)
    return bad(entry, "has " + std::to_string(out.size()) + " bytes instead of " + std::to_string(entry.size));
  if (crc_of(out) != entry.crc)
    return bad(entry, "does not match its checksum");
  return out;
}

} // namespace remotemac::zip
