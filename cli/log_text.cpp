#include "cli/log_text.h"

#include "common/text.h"

#include <algorithm>
#include <cstdint>

namespace remotemac::cli {
namespace {
std::size_t sequence_length(unsigned char first) { return (first & 0xE0) == 0xC0 ? 2 : (first & 0xF0) == 0xE0 ? 3 : (first & 0xF8) == 0xF0 ? 4 : 1; }

// Bytes at the end of `text` that begin a sequence which needs more bytes than there are.
std::size_t incomplete(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80)
      continue;
    return sequence_length(byte) > back ? back : 0;
  }
  return 0;
}
} // namespace

std::string LogText::add(std::string_view part) {
  std::string text = std::move(m_rest);
  text += part;
  m_rest = text.substr(text.size() - incomplete(text));
  text.resize(text.size() - m_rest.size());
  return clean_text(text);
}

std::string LogText::end() {
  const std::string rest = std::move(m_rest);
  m_rest.clear();
  return clean_text(rest);
}

} // namespace remotemac::cli
