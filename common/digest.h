#pragma once
// SHA-256 digests (OpenSSL). A Digest names bytes everywhere in the project: chunks, files, manifests, log records.
#include "common/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace remotemac {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
  [[nodiscard]] std::string hex() const;
  // 64 lower-case hex digits, nothing else.
  [[nodiscard]] static Result<Digest> from_hex(std::string_view text);
};

[[nodiscard]] Digest sha256(std::span<const std::uint8_t> bytes);
[[nodiscard]] Digest sha256(std::string_view text);

// Incremental; not thread-safe; finish() once.
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::uint8_t> bytes);
  void update(std::string_view text);
  [[nodiscard]] Digest finish();

private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

// Lower-case hex of `bytes` random bytes from the system's generator.
[[nodiscard]] std::string random_hex(std::size_t bytes);

} // namespace remotemac

template <> struct std::hash<remotemac::Digest> {
  std::size_t operator()(const remotemac::Digest& digest) const noexcept {
    std::size_t out = 0;
    for (std::size_t i = 0; i < sizeof out; ++i)
      out = (out << 8) | digest.bytes[i];
    return out;
  }
};
