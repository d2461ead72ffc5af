#pragma once
// Reads a file's bytes to the end with the inspector that understands them and reports what it found; whatever no inspector reads to
// the end is refused here (fail closed). Pure: bytes in, facts out; nothing of the content is kept. Thread-safe.
#include "policies/decision.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace remotemac::policies {

// Counted again by us over the declared quasi-identifiers of a table.
struct TableFacts {
  std::uint64_t rows = 0;
  std::uint64_t smallest_group = 0; // k
  std::uint64_t unique_rows = 0;    // groups of one
  std::vector<std::string> missing_columns;
};

struct Inspection {
  std::string kind;    // text, json, table, notebook, array; "" when refused before that is known
  std::string refusal; // "" = read to the end
  std::string rule;    // built-in rule of the refusal
  std::vector<Finding> findings;
  std::uint64_t notebook_outputs = 0;
  std::optional<TableFacts> table; // only when quasi-identifiers were asked for
};

// `path` (relative) helps to choose the inspector and is itself searched for identifiers.
[[nodiscard]] Inspection inspect(const std::string& path, std::span<const std::uint8_t> bytes, const std::vector<std::string>& quasi_identifiers = {});
// Raised whenever an inspector or detector changes what it finds: older cached results are then not used.
inline constexpr int k_inspection_version = 2;

} // namespace remotemac::policies
