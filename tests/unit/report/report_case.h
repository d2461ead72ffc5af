#pragma once
// The runs that the tests of the report show, and an independent look at what was made of them.
#include "cli/verdict/verdict.h"
#include "common/evidence.h"

#include <string>
#include <string_view>
#include <vector>

namespace remotemac::testing {

struct Case {
  Evidence evidence;
  verdict::Verdict verdict;
};

// Everything shown on a real Mac, with every section of the report filled.
[[nodiscard]] Case suitable_case();
// The stand-in: simulated, one failure in the battery, differing conditions.
[[nodiscard]] Case digits_case();
// The project needs float64.
[[nodiscard]] Case float64_case();
// The host went away before the job was submitted.
[[nodiscard]] Case broken_off_case();
// Every text of the evidence is `text`.
[[nodiscard]] Case hostile_case(const std::string& text);

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);
// Columns as the C library counts them, not the product. -1: something that cannot be printed.
[[nodiscard]] int columns_of(std::string_view line);
[[nodiscard]] std::size_t line_with(const std::vector<std::string>& lines,
                                    std::string_view needle); // lines.size(): none

} // namespace remotemac::testing
