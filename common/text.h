#pragma once
// Text that meets people: cleaning of foreign text, sizes, durations, times, nearest known word. Pure functions.
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

[[nodiscard]] bool is_valid_utf8(std::string_view text);
// One line without control characters (C0, C1, DEL), bidi controls or broken UTF-8; those become '?'. Newlines and tabs become spaces.
[[nodiscard]] std::string clean_line(std::string_view text, std::size_t max_bytes = 4096);
// As clean_line, but keeps \n and \t: for log text printed to a terminal.
[[nodiscard]] std::string clean_text(std::string_view text);
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);          // 1.5 MB (powers of 1000)
[[nodiscard]] std::string human_seconds(double seconds);             // 0.42 s, 3 min 05 s
[[nodiscard]] std::string rfc3339(std::chrono::system_clock::time_point time); // 2026-12-01T01:02:03.456Z
// Levenshtein-nearest of `known`, or "" when nothing is near enough to be a likely slip.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> known);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string to_lower_ascii(std::string_view text);
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
// Single-quoted for /bin/sh; safe for any bytes but NUL.
[[nodiscard]] std::string shell_quote(std::string_view text);

} // namespace remotemac
