#pragma once
// Internal to common/zip.cpp.
#include <cstddef>
#include <cstdint>
#include <span>

namespace remotemac::zip {

// Little-endian numbers one after the other; the caller has checked that they are there.
class Cursor {
public:
  Cursor(std::span<const std::uint8_t> bytes, std::uint64_t at) : m_bytes(bytes), m_at(static_cast<std::size_t>(at)) {}
  std::uint64_t take(std::size_t count) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < count; ++i)
      out |= static_cast<std::uint64_t>(m_bytes[m_at + i]) << (8 * i);
    m_at += count;
    return out;
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(take(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(take(4)); }
  std::uint64_t u64() { return take(8); }

private:
  std::span<const std::uint8_t> m_bytes;
  std::size_t m_at;
};

} // namespace remotemac::zip
