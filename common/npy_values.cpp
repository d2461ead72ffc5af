#include "common/npy.h"

#include "common/text.h"

#include <bit>
#include <cmath>
#include <limits>

namespace remotemac::npy {
namespace {

// Where element `index` (C order) lies, counted in elements.
std::uint64_t stored_index(const Array& array, std::uint64_t index) {
  if (!array.fortran || array.shape.size() < 2)
    return index;
  std::uint64_t stride = array.elements();
  std::uint64_t out = 0;
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    stride /= array.shape[i];
    out += index % array.shape[i] * stride;
    index /= array.shape[i];
  }
  return out;
}

std::uint64_t number_at(const Array& array, std::span<const std::uint8_t> bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    out = (out << 8) | bytes[array.big_endian ? i : bytes.size() - 1 - i];
  return out;
}

double half(std::uint64_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  double out = 0;
  if (exponent == 31)
    out = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else
    out = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) ? -out : out;
}

double float_at(const Array& array, std::span<const std::uint8_t> bytes) {
  const std::uint64_t bits = number_at(array, bytes);
  if (bytes.size() == 2)
    return half(bits);
  if (bytes.size() == 4)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return std::bit_cast<double>(bits);
}

void append_utf8(std::string& out, std::uint64_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    code = 0xfffd;
  const auto put = [&](std::uint64_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (code < 0x80)
    return put(code);
  if (code < 0x800) {
    put(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xe0 | (code >> 12));
    } else {
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3f));
    }
    put(0x80 | ((code >> 6) & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

std::string unicode_at(const Array& array, std::span<const std::uint8_t> bytes) {
  std::size_t end = bytes.size() / 4;
  while (end > 0 && number_at(array, bytes.subspan((end - 1) * 4, 4)) == 0)
    --end;
  std::string out;
  for (std::size_t i = 0; i < end; ++i)
    append_utf8(out, number_at(array, bytes.subspan(i * 4, 4)));
  return out;
}

// Bytes that are not UTF-8 are taken as Latin-1, so that different bytes stay different.
std::string bytes_at(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty() && bytes.back() == 0)
    bytes = bytes.first(bytes.size() - 1);
  std::string out(bytes.begin(), bytes.end());
  if (is_valid_utf8(out))
    return out;
  out.clear();
  for (const std::uint8_t byte : bytes)
    append_utf8(out, byte);
  return out;
}

} // namespace

std::span<const std::uint8_t> raw(const Array& array, std::uint64_t index) {
  return array.data.subspan(static_cast<std::size_t>(stored_index(array, index)) * array.item_size, array.item_size);
}

std::uint64_t integer(const Array& array, std::uint64_t index) {
  const std::span<const std::uint8_t> bytes = raw(array, index);
  const std::uint64_t bits = number_at(array, bytes);
  if (array.kind == Kind::boolean)
    return bits != 0;
  if (array.kind != Kind::signed_int || bytes.size() == 8 || !((bits >> (bytes.size() * 8 - 1)) & 1))
    return bits;
  return bits | ~((std::uint64_t{1} << (bytes.size() * 8)) - 1);
}

double value(const Array& array, std::uint64_t index) {
  switch (array.kind) {
  case Kind::floating:
    return float_at(array, raw(array, index));
  case Kind::complex:
    return float_at(array, raw(array, index).first(array.item_size / 2));
  case Kind::signed_int:
    return static_cast<double>(static_cast<std::int64_t>(integer(array, index)));
  case Kind::boolean:
  case Kind::unsigned_int:
    return static_cast<double>(integer(array, index));
  case Kind::bytes:
  case Kind::unicode:
    return 0;
  }
  return 0;
}

double imaginary(const Array& array, std::uint64_t index) {
  return array.kind == Kind::complex ? float_at(array, raw(array, index).subspan(array.item_size / 2)) : 0;
}

std::string text(const Array& array, std::uint64_t index) {
  if (array.kind == Kind::unicode)
    return unicode_at(array, raw(array, index));
  return array.kind == Kind::bytes ? bytes_at(raw(array, index)) : std::string();
}

} // namespace remotemac::npy
