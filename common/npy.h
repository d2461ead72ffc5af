#pragma once
// Strict reading of numpy arrays (.npy, format versions 1, 2 and 3) held in memory. Object, datetime, long double and structured
// dtypes are refused by name. Pure functions, safe from any thread. Errors: corrupt.
#include "common/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace remotemac::npy {

enum class Kind { boolean, signed_int, unsigned_int, floating, complex, bytes, unicode };

// A view: valid as long as the bytes given to read().
struct Array {
  Kind kind = Kind::boolean;
  std::size_t item_size = 0; // bytes per element
  bool big_endian = false;
  bool fortran = false;
  std::vector<std::uint64_t> shape; // empty: one element
  std::span<const std::uint8_t> data;
  std::string dtype; // float32, int64, bool, bytes12, str8

  [[nodiscard]] std::uint64_t elements() const;
};

// Strict: the header is exactly the dictionary form that numpy writes, the data have exactly the length it promises.
[[nodiscard]] Result<Array> read(std::span<const std::uint8_t> bytes);

// Element `index` in C order, whatever the storage order. index < elements(). Numeric kinds only: 0 for text.
[[nodiscard]] double value(const Array& array, std::uint64_t index); // real part of complex; 64-bit integers are rounded
[[nodiscard]] double imaginary(const Array& array, std::uint64_t index); // 0 when not complex
// The bytes of an element as they are stored, for exact comparison of integers beyond 2^53.
[[nodiscard]] std::span<const std::uint8_t> raw(const Array& array, std::uint64_t index);
// Integer kinds and booleans, exact; two's complement for signed ones.
[[nodiscard]] std::uint64_t integer(const Array& array, std::uint64_t index);
// bytes and unicode kinds as UTF-8 (bytes as they are), trailing NULs removed; "" for numbers.
[[nodiscard]] std::string text(const Array& array, std::uint64_t index);

} // namespace remotemac::npy
