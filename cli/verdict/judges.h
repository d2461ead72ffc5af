#pragma once
// One function per criterion. Internal to cli/verdict.
#include "cli/verdict/facts.h"
#include "cli/verdict/verdict.h"

namespace remotemac::verdict {

[[nodiscard]] Criterion judge_versions(const Facts& facts);     // C1
[[nodiscard]] Criterion judge_dependencies(const Facts& facts); // C2
[[nodiscard]] Criterion judge_backend(const Facts& facts);      // C3
[[nodiscard]] Criterion judge_run(const Facts& facts);          // C4
[[nodiscard]] Criterion judge_placement(const Facts& facts);    // C5
[[nodiscard]] Criterion judge_operations(const Facts& facts);   // C6
[[nodiscard]] Criterion judge_outputs(const Facts& facts);      // C7
[[nodiscard]] Criterion judge_conditions(const Facts& facts);   // C8
[[nodiscard]] Criterion judge_time(const Facts& facts);         // C9
[[nodiscard]] Criterion judge_policy(const Facts& facts);       // C10
[[nodiscard]] Criterion judge_numerics(const Facts& facts);     // C11
[[nodiscard]] Criterion judge_memory(const Facts& facts);       // C12

[[nodiscard]] std::vector<Obstacle> find_obstacles(const Facts& facts);

} // namespace remotemac::verdict
