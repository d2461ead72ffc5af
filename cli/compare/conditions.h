#pragma once
// The conditions of the two runs, side by side, by one table. Pure.
#include "cli/compare/compare.h"

namespace remotemac::compare {

[[nodiscard]] std::vector<ConditionPair> compare_conditions(const Input& input);
// unlike: a deciding condition differs; unknown: one is missing; else alike.
[[nodiscard]] Alikeness alikeness_of(const std::vector<ConditionPair>& conditions);

} // namespace remotemac::compare
