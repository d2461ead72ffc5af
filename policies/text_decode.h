#pragma once
// Reads bytes as text in the encodings that research files come in: UTF-8, UTF-16 and UTF-32 with a byte order mark, and (when the
// bytes are no UTF-8) Windows-1252, Shift_JIS (as CP932), EUC-JP, GB18030, EBCDIC. A file that fits several of the latter is scanned in each.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::policies {

struct DecodedText {
  std::string encoding; // name for people
  std::string utf8;     // without byte order mark
};

// Every reading that the bytes allow, the likeliest first; empty: these bytes are no text (NUL, many control characters).
[[nodiscard]] std::vector<DecodedText> decode_text(std::span<const std::uint8_t> bytes);

} // namespace remotemac::policies
