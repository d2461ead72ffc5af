#pragma once
// Text on a terminal: how wide it is, where a line may end, what may be shown at all. Pure functions.
#include "cli/report/document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::report {

inline constexpr std::size_t k_max_text = 400;

// One line that is safe to show: clean_line, and '?' also for invisible, private and unassigned characters; no more
// than four combining marks on one character; outer white space gone; shortened to about max_bytes.
[[nodiscard]] std::string tidy(std::string_view text, std::size_t max_bytes = k_max_text);

// Lines of foreign code: as tidy, but what stands before a line stays. At most max_lines; a last line says when there
// were more.
[[nodiscard]] std::vector<std::string> tidy_code(std::string_view text, std::size_t max_lines = 40);

// Columns on a terminal of tidy text.
[[nodiscard]] int display_width(std::string_view text);
[[nodiscard]] int display_width(const Inline& text);
// Tidy text, at most `columns` wide: the end goes, "..." says so.
[[nodiscard]] std::string shortened(std::string_view text, int columns);
// The same, but the beginning goes: for paths and names whose end tells them apart.
[[nodiscard]] std::string shortened_front(std::string_view text, int columns);

// Lines of at most `columns` (>= 2); broken at spaces and beside wide characters, inside a word only when it does not
// fit a line. No line for an empty text.
[[nodiscard]] std::vector<Inline> wrap(const Inline& text, int columns);
// A shell command over several lines, each but the last ending in " \" outside of quotes, so that it can be copied.
[[nodiscard]] std::vector<std::string> wrap_command(std::string_view command, int columns);

// A line of code over several lines, broken anywhere.
[[nodiscard]] std::vector<std::string> wrap_code(std::string_view line, int columns);

// Numbers as people read them; U+00A0 where no line may end.
[[nodiscard]] std::string number(std::uint64_t value); // 20 000
[[nodiscard]] std::string count(std::uint64_t value, std::string_view one, std::string_view many);
[[nodiscard]] std::string bytes(std::uint64_t value);
[[nodiscard]] std::string seconds(double value);             // 12.3 ms, 3 min 05 s
[[nodiscard]] std::string percent(double share);             // 0..1
[[nodiscard]] std::string real(std::optional<double> value); // 1.2e-05, "-" when not measured
[[nodiscard]] std::string days(std::uint64_t value_s);       // 7 days, 12 hours

} // namespace remotemac::report
