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

enum class Fit { fits, does_not_fit, no_converter };

// `out` is the text when it fits. A converter that this system lacks is told apart: text in that encoding would pass unread.
Fit convert(std::span<const std::uint8_t> bytes, const char* encoding, std::string& out) {
  iconv_t raw = iconv_open("UTF-8", encoding);
  if (raw == reinterpret_cast<iconv_t>(-1)) // NOLINT(performance-no-int-to-ptr): so iconv says that it failed
    return Fit::no_converter;
  const std::unique_ptr<void, CloseConverter> converter(raw);
  out.assign(bytes.size() * 4 + 16, '\0');
  char* in_at = const_cast<char*>(reinterpret_cast<const char*>(bytes.data())); // iconv does not write to it
  std::size_t in_left = bytes.size();
  char* out_at = out.data();
  std::size_t out_left = out.size();
  if (iconv(raw, &in_at, &in_left, &out_at, &out_left) != 0 || in_left != 0) // > 0: replaced something it did not know
    return Fit::does_not_fit;
  out.resize(out.size() - out_left);
  return Fit::fits;
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

// U+0080..U+009F: no old encoding has them in its texts; bytes that become them are binary, or text in an encoding that is not read.
bool has_upper_controls(std::string_view utf8) {
  for (std::size_t at = utf8.find('\xC2'); at != std::string_view::npos; at = utf8.find('\xC2', at + 1)) {
    if (at + 1 < utf8.size() && static_cast<unsigned char>(utf8[at + 1]) < 0xA0)
      return true;
  }
  return false;
}

struct Marked {
  std::initializer_list<std::uint8_t> mark;
  const char* encoding;
};
} // namespace

std::vector<DecodedText> decode_text(std::span<const std::uint8_t> bytes) {
  std::vector<DecodedText> out;
  const auto keep = [&](const char* encoding, std::string text) {
    if (reads_as_text(text))
      out.push_back({encoding, std::move(text)});
  };
  std::string text;
  // UTF-32LE first: its mark begins with that of UTF-16LE.
  for (const Marked& marked : {Marked{{0xFF, 0xFE, 0x00, 0x00}, "UTF-32LE"}, Marked{{0x00, 0x00, 0xFE, 0xFF}, "UTF-32BE"}, Marked{{0xFF, 0xFE}, "UTF-16LE"}, Marked{{0xFE, 0xFF}, "UTF-16BE"}}) {
    if (begins_with(bytes, marked.mark)) {
      if (convert(bytes.subspan(marked.mark.size()), marked.encoding, text) == Fit::fits)
        keep(marked.encoding, std::move(text));
      return out;
    }
  }
  if (begins_with(bytes, {0xEF, 0xBB, 0xBF}))
    bytes = bytes.subspan(3);
  const std::string_view plain(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_valid_utf8(plain)) {
    keep("UTF-8", std::string(plain));
    // ISO-2022-JP is seven-bit and would pass as UTF-8 with its escapes unread. Escapes of a terminal do not begin with "ESC $": where
    // such text cannot be converted (a vendor's characters), nobody has read it.
    if (plain.find('\x1B') != std::string_view::npos) {
      if (convert(bytes, "ISO-2022-JP", text) == Fit::fits)
        keep("ISO-2022-JP", std::move(text));
      else if (plain.find("\x1B$") != std::string_view::npos)
        out.clear();
    }
    return out;
  }
  if (std::find(bytes.begin(), bytes.end(), std::uint8_t{0}) != bytes.end())
    return out;
  // The Japanese encodings with the vendors' characters (for example U+2460 or U+9AD9), which real tables hold: one of them must not make
  // the whole file unreadable to us. EBCDIC (IBM037) alone makes nothing text, but what reads as it is searched as it.
  for (const char* encoding : {"WINDOWS-1252", "CP932", "EUC-JP-MS", "GB18030", "IBM037"}) {
    const Fit fit = convert(bytes, encoding, text);
    if (fit == Fit::no_converter)
      return {};
    if (fit == Fit::fits && !has_upper_controls(text) && (encoding != std::string_view("IBM037") || !out.empty()))
      keep(encoding, std::move(text));
  }
  return out;
}

} // namespace remotemac::policies
