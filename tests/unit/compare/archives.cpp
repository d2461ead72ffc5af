#include "archives.h"

#include <zlib.h>

namespace remotemac::test {
namespace {

void put(Bytes& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void put(Bytes& out, const std::string& text) { out.insert(out.end(), text.begin(), text.end()); }

Bytes deflated(const Bytes& data) {
  z_stream stream{};
  ::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes out(::deflateBound(&stream, data.size()) + 16);
  stream.next_in = const_cast<Bytef*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

} // namespace

Bytes npy_file(const std::string& descr, const std::string& shape, const Bytes& data, bool fortran, int version) {
  const std::size_t start = version == 1 ? 10 : 12;
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
      ", }";
  while ((start + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  Bytes out;
  put(out, "\x93NUMPY");
  put(out, static_cast<std::uint64_t>(version), 2);
  put(out, header.size(), version == 1 ? 2 : 4);
  put(out, header);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Bytes npz_file(const std::vector<std::pair<std::string, Bytes>>& entries, bool packed, bool wide) {
  Bytes out;
  Bytes directory;
  for (const auto& [name, data] : entries) {
    const Bytes stored = packed ? deflated(data) : data;
    Bytes common; // needs, flags, method, time, date, crc
    put(common, 20, 2);
    put(common, 0, 2);
    put(common, packed ? 8 : 0, 2);
    put(common, 0x00210000, 4);
    put(common, ::crc32_z(0, data.data(), data.size()), 4);
    put(directory, 0x02014b50, 4);
    put(directory, 0x0314, 2);
    directory.insert(directory.end(), common.begin(), common.end());
    put(directory, stored.size(), 4);
    put(directory, data.size(), 4);
    put(directory, name.size(), 2);
    put(directory, 0, 8); // extra, comment, disk, internal
    put(directory, 0x01800000, 4);
    put(directory, out.size(), 4);
    put(directory, name);
    put(out, 0x04034b50, 4);
    out.insert(out.end(), common.begin(), common.end());
    put(out, wide ? 0xffffffff : stored.size(), 4);
    put(out, wide ? 0xffffffff : data.size(), 4);
    put(out, name.size(), 2);
    put(out, wide ? 20 : 0, 2);
    put(out, name);
    if (wide) {
      put(out, 1, 2);
      put(out, 16, 2);
      put(out, data.size(), 8);
      put(out, stored.size(), 8);
    }
    out.insert(out.end(), stored.begin(), stored.end());
  }
  const std::size_t offset = out.size();
  out.insert(out.end(), directory.begin(), directory.end());
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, entries.size(), 2);
  put(out, entries.size(), 2);
  put(out, directory.size(), 4);
  put(out, offset, 4);
  put(out, 0, 2);
  return out;
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace remotemac::test
