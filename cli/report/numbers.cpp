// Numbers as people read them (display.h).
#include "cli/report/display.h"
#include "common/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace remotemac::report {
namespace {
constexpr const char* k_gap = "\xC2\xA0";

std::string joined(std::string text) {
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at))
    text.replace(at, 1, k_gap);
  return text;
}

std::string fixed(double value, int decimals, const char* unit) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f %s", decimals, value, unit);
  return joined(buffer);
}
} // namespace

std::string number(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  if (digits.size() <= 4)
    return digits;
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0)
      out += k_gap;
    out += digits[i];
  }
  return out;
}

std::string count(std::uint64_t value, std::string_view one, std::string_view many) {
  return number(value) + k_gap + std::string(value == 1 ? one : many);
}

std::string bytes(std::uint64_t value) {
  return joined(human_bytes(value));
}

std::string seconds(double value) {
  if (!std::isfinite(value) || value < 0)
    return "?";
  if (value > 0 && value < 0.9995e-3)
    return fixed(std::max(1.0, value * 1e6), 0, "us");
  if (value > 0 && value < 0.9995)
    return fixed(value * 1e3, value < 0.09995 ? 1 : 0, "ms");
  return joined(human_seconds(std::min(value, 1e9)));
}

std::string percent(double share) {
  if (!std::isfinite(share))
    return "?";
  const double value = std::clamp(share, 0.0, 1.0) * 100;
  if (value > 0 && value < 0.1)
    return joined("<0.1 %");
  return fixed(value, value < 9.95 ? 1 : 0, "%");
}

std::string real(std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return "-";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", *value);
  return buffer;
}

std::string days(std::uint64_t value_s) {
  if (value_s % 86400 == 0 && value_s != 0)
    return count(value_s / 86400, "day", "days");
  if (value_s % 3600 == 0 && value_s != 0)
    return count(value_s / 3600, "hour", "hours");
  return joined(human_seconds(static_cast<double>(value_s)));
}

} // namespace remotemac::report
