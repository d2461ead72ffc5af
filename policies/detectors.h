#pragma once
// Finds identifiers and secrets in text. One table of detectors; each has an id, a title for people and a confidence rule. What was
// matched never leaves these functions: callers get kind, count and line. Pure and thread-safe.
#include "policies/decision.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::policies {

struct DetectorInfo {
  std::string_view id;
  std::string_view title;
  std::string_view method; // for docs/policy.md
};

[[nodiscard]] std::span<const DetectorInfo> detector_table();
// The title, or the id itself when it is not in the table.
[[nodiscard]] std::string_view detector_title(std::string_view id);

struct Match {
  std::string_view detector;
  Confidence confidence = Confidence::low;
  std::size_t offset = 0; // bytes into the scanned text
};

// In a table, bare digit runs in cells are judged by column (column_test.h): without a context word they count as low here.
enum class TextShape { running, table };

// `text` is UTF-8 as normalize_for_scan() gives it.
[[nodiscard]] std::vector<Match> detect(std::string_view text, TextShape shape = TextShape::running);
void detect_secrets(std::string_view text, std::vector<Match>& out);
void detect_identifiers(std::string_view text, TextShape shape, std::vector<Match>& out);

// Sums matches up by detector and confidence; the place is the line of the first, or `place` when it is given.
[[nodiscard]] std::vector<Finding> summarize(std::string_view text, const std::vector<Match>& matches, const std::string& place = {});
// Adds `more` to `findings`, keeping the earliest place and the highest confidence of each detector.
void merge(std::vector<Finding>& findings, std::vector<Finding> more);

// Full-width forms become ASCII, invisible characters (zero width, soft hyphen, bidi marks) and a terminal's colours vanish; lines stay lines.
[[nodiscard]] std::string normalize_for_scan(std::string_view utf8);

} // namespace remotemac::policies
