#pragma once
// Small pieces that the sections share. Internal to cli/report.
#include "cli/report/document.h"
#include "common/evidence.h"

#include <string>
#include <string_view>
#include <vector>

namespace remotemac::report {

// Foreign text (tidied here).
[[nodiscard]] Span said(std::string_view text, Tone tone = Tone::plain);
[[nodiscard]] Span code(std::string_view text);
// Our own words.
[[nodiscard]] Span words(std::string text, Tone tone = Tone::plain);
// Foreign text in which our own commands ("remotemac run --host") are marked as code.
[[nodiscard]] Inline with_commands(std::string_view text);
// A cell of foreign text; "-" when it is empty.
[[nodiscard]] Inline cell(std::string_view text, Tone tone = Tone::plain);
[[nodiscard]] Inline code_cell(std::string_view text);
[[nodiscard]] Inline number_cell(std::uint64_t value);

[[nodiscard]] Paragraph paragraph(Inline text);
[[nodiscard]] Paragraph remark(std::string text); // our own words, faint
// "and 12 more in the JSON report" below what was cut; nothing when nothing was.
void add_rest(std::size_t total, std::size_t shown, std::string_view what, Document& out);

[[nodiscard]] std::string place_of(std::string_view file, int line); // "train.py:12", "" when unknown
[[nodiscard]] std::string yes_no(const std::optional<bool>& value);  // "" when not known

// What a document says of the backend being simulated: the reason, "" when none says so.
[[nodiscard]] bool is_simulated(const Evidence& evidence);
[[nodiscard]] std::string simulation_reason(const Evidence& evidence);
// The mini-run that the numbers are taken from: strict unless it failed and permissive did not. nullptr: there was
// none.
[[nodiscard]] const HarnessDocument* counted_run(const Evidence& evidence);
[[nodiscard]] const HarnessDocument* reference_run(const Evidence& evidence);
// "the host (mps, strict)"
[[nodiscard]] std::string run_label(const Evidence& evidence, const HarnessDocument& run);
[[nodiscard]] Inline outcome_text(const HarnessDocument& run);

} // namespace remotemac::report
