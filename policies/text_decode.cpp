#include "policies/text_decode.h"

#include "common/text.h"

#include <algorithm>
#include <iconv.h>
#include <memory>
#include <optional>

namespace remotemac::policies {
namespace {
struct CloseConverter {
  void operator()(void* converter) const { iconv_close(static_cast<iconv_t>(converter)); }
};

// nullopt when a byte sequence is not valid in `encoding`.
std::optional<std::string> convert(std::span<const std::uint8_t> bytes, const char* encoding) {
  iconv_t raw = iconv_open("UTF-8", encoding);
  if (raw == reinterpret_cast<iconv_t>(-1))
    return std::nullopt;
  const std::unique_ptr<void, CloseConverter> converter(raw);
  std::string out(bytes.size() * 4 + 16, '\0');
  char* in_at = const_cast<char*>(reinterpret_cast<const char*>(bytes.data())); // iconv does not write to it
  std::size_t in_left = bytes.size();
  char* out_at = out.data();
  std::size_t out_left = out.size();
  if (iconv(raw, &in_at, &in_left, &out_at, &out_left) != 0 || in_left != 0) // > 0: replaced something it did not know
    return std::nullopt;
  out.resize(out.size() - out_left);
  return out;
}

bool begins_with(std::span<const std::uint8_t> bytes, std::initializer_list<std::uint8_t> mark) {
  return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
}

// Text has line ends, tabs, form feeds and, in logs, escapes; other control characters mean a binary format.
bool reads_as_text(std::string_view utf8) {
  std::size_t controls = 0;
  for (const char c : utf8) {
    if (c == '\0')
      return false;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f' && byte != 0x1B && byte != '\b') || byte == 0x7F)
      ++controls;
  }
  return controls == 0;
}

struct Marked {
  std::initializer_list<std::uint8_t> mark;
  const char* encoding;
};
} // namespace

std::vector<DecodedText> decode_text(std::span<const std::uint8_t> bytes) {
  std::vector<DecodedText> out;
  const auto keep = [&](const char* encoding, std::optional<std::string> text) {
    if (text && reads_as_text(*text))
      out.push_back({encoding, std::move(*text)});
  };
  // UTF-32LE first: its mark begins with that of UTF-16LE.
  for (const Marked& marked : {Marked{{0xFF, 0xFE, 0x00, 0x00}, "UTF-32LE"}, Marked{{0x00, 0x00, 0xFE, 0xFF}, "UTF-32BE"}, Marked{{0xFF, 0xFE}, "UTF-16LE"}, Marked{{0xFE, 0xFF}, "UTF-16BE"}}) {
    if (begins_with(bytes, marked.mark)) {
      keep(marked.encoding, convert(bytes.subspan(marked.mark.size()), marked.encoding));
      return out;
    }
  }
  if (begins_with(bytes, {0xEF, 0xBB, 0xBF}))
    bytes = bytes.subspan(3);
  const std::string_view plain(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_valid_utf8(plain)) {
    keep("UTF-8", std::string(plain));
    // ISO-2022-JP is seven-bit and would pass as UTF-8 with its escapes unread.
    if (plain.find('\x1B') != std::string_view::npos)
      keep("ISO-2022-JP", convert(bytes, "ISO-2022-JP"));
    return out;
  }
  if (std::find(bytes.begin(), bytes.end(), std::uint8_t{0}) != bytes.end())
    return out;
  for (const char* encoding : {"WINDOWS-1252", "SHIFT_JIS", "EUC-JP", "GB18030"})
    keep(encoding, convert(bytes, encoding));
  if (out.empty())
    keep("ISO-8859-1", convert(bytes, "ISO-8859-1"));
  return out;
}

} // namespace remotemac::policies
