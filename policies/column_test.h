#pragma once
// Are the values of a column identifiers? One value with a right check digit says little (every tenth number passes as a My Number);
// a column in which nearly all do says everything. Thresholds: research on false positives of check digits, docs/policy.md.
#include "policies/decision.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::policies {

// Counts of one column; cheap to feed, value by value.
class ColumnTest {
public:
  explicit ColumnTest(std::string_view header);
  void add(std::string_view value);
  // Findings with place "column <number or header>".
  [[nodiscard]] std::vector<Finding> findings(const std::string& place) const;

private:
  enum Kind : std::size_t { tax_id, my_number, card, ssn, k_kinds };
  std::uint64_t m_values = 0;
  std::uint64_t m_passed[k_kinds] = {};
  bool m_named[k_kinds] = {};
  bool m_person = false;
};

} // namespace remotemac::policies
