#include "common/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

namespace remotemac {
namespace {
// Length of the valid UTF-8 sequence at the start of `text` and its code point; 0 when broken (overlong, surrogate, > U+10FFFF).
std::size_t decode(std::string_view text, std::uint32_t& code_point) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) {
    code_point = first;
    return 1;
  }
  std::size_t length = 0;
  std::uint32_t minimum = 0;
  if ((first & 0xE0) == 0xC0) {
    length = 2, code_point = first & 0x1Fu, minimum = 0x80;
  } else if ((first & 0xF0) == 0xE0) {
    length = 3, code_point = first & 0x0Fu, minimum = 0x800;
  } else if ((first & 0xF8) == 0xF0) {
    length = 4, code_point = first & 0x07u, minimum = 0x10000;
  } else {
    return 0;
  }
  if (text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
    code_point = (code_point << 6) | (byte(i) & 0x3Fu);
  }
  if (code_point < minimum || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF))
    return 0;
  return length;
}

bool is_hidden_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x200E || c == 0x200F || c == 0x061C || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
}

enum class Lines { keep, flatten };

std::string clean(std::string_view text, Lines lines, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size(), max_bytes));
  while (!text.empty() && out.size() < max_bytes) {
    std::uint32_t c = 0;
    const std::size_t length = decode(text, c);
    if (length == 0) {
      out += '?';
      text.remove_prefix(1);
      continue;
    }
    if (c == '\n' || c == '\t')
      out += lines == Lines::keep ? static_cast<char>(c) : ' ';
    else if (is_hidden_control(c))
      out += '?';
    else
      out.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  if (!text.empty())
    out += "...";
  return out;
}
} // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint32_t c = 0;
    const std::size_t length = decode(text, c);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string clean_line(std::string_view text, std::size_t max_bytes) { return clean(text, Lines::flatten, max_bytes); }
std::string clean_text(std::string_view text) { return clean(text, Lines::keep, text.size() * 2 + 16); }

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return buffer;
}

std::string human_seconds(double seconds) {
  char buffer[48];
  if (!std::isfinite(seconds) || seconds < 0)
    return "?";
  if (seconds < 9.995)
    std::snprintf(buffer, sizeof buffer, "%.2f s", seconds);
  else if (seconds < 119.5)
    std::snprintf(buffer, sizeof buffer, "%.0f s", seconds);
  else if (seconds < 7170)
    std::snprintf(buffer, sizeof buffer, "%d min %02d s", static_cast<int>(seconds) / 60, static_cast<int>(seconds) % 60);
  else
    std::snprintf(buffer, sizeof buffer, "%d h %02d min", static_cast<int>(seconds) / 3600, static_cast<int>(seconds) / 60 % 60);
  return buffer;
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(millis / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
  char out[48];
  std::snprintf(out, sizeof out, "%s.%03dZ", date, static_cast<int>(millis % 1000));
  return out;
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t substitute = diagonal + (word[i - 1] == candidate[j - 1] ? 0u : 1u);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    out.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos)
      return out;
    start = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0)
      out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::string to_lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string shell_quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

} // namespace remotemac
