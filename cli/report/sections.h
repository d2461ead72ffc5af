#pragma once
// The parts of a report, in the order of the reader's questions. Each gives no blocks when there is nothing to say.
// Internal.
#include "cli/report/build.h"

namespace remotemac::report {

struct Source {
  const Evidence& evidence;
  const verdict::Verdict& verdict;
  Detail detail;
};

[[nodiscard]] Document head_section(const Source& source); // section_head.cpp
[[nodiscard]] Document why_section(const Source& source);
[[nodiscard]] Document obstacles_section(const Source& source);
[[nodiscard]] Document next_section(const Source& source);
[[nodiscard]] Document environment_section(const Source& source); // section_machine.cpp
[[nodiscard]] Document survey_section(const Source& source);
[[nodiscard]] Document memory_section(const Source& source);
[[nodiscard]] Document placement_section(const Source& source); // section_run.cpp
[[nodiscard]] Document time_section(const Source& source);
[[nodiscard]] Document battery_section(const Source& source); // section_checks.cpp
[[nodiscard]] Document replay_section(const Source& source);
[[nodiscard]] Document comparison_section(const Source& source); // section_comparison.cpp
[[nodiscard]] Document left_section(const Source& source);       // section_left.cpp
[[nodiscard]] Document not_shown_section(const Source& source);

} // namespace remotemac::report
