#pragma once
// Arrays and archives as numpy writes them, made byte by byte.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace remotemac::test {

using Bytes = std::vector<std::uint8_t>;

// One .npy file. `shape` as numpy writes it, for example "(2, 3)".
[[nodiscard]] Bytes npy_file(const std::string& descr, const std::string& shape, const Bytes& data, bool fortran = false,
    int version = 1);
// One .npz file; with deflate when `packed`, with the zip64 field in local headers as numpy writes it when `wide`.
[[nodiscard]] Bytes npz_file(const std::vector<std::pair<std::string, Bytes>>& entries, bool packed = false, bool wide = true);
[[nodiscard]] std::string text_of(const Bytes& bytes);

template <typename T> [[nodiscard]] Bytes little_endian(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(out.data(), values.data(), out.size());
  return out;
}

} // namespace remotemac::test
