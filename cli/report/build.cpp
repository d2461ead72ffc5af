#include "cli/report/build.h"

#include "cli/report/sections.h"

namespace remotemac::report {
namespace {
// A heading only where something follows it.
void add_under(std::string heading, int level, Document& out, const Document& blocks) {
  if (blocks.empty())
    return;
  out.push_back(Heading{level, std::move(heading)});
  out.insert(out.end(), blocks.begin(), blocks.end());
}

Document measured(const Source& source) {
  Document out;
  add_under("Environment", 3, out, environment_section(source));
  add_under("Project files", 3, out, survey_section(source));
  add_under("Placement", 3, out, placement_section(source));
  add_under("Time", 3, out, time_section(source));
  add_under("Memory", 3, out, memory_section(source));
  add_under("Operations of this machine (battery)", 3, out, battery_section(source));
  add_under("Operations of this project (replay)", 3, out, replay_section(source));
  add_under("Comparison with the reference", 3, out, comparison_section(source));
  return out;
}
} // namespace

Document build(const Evidence& evidence, const verdict::Verdict& verdict, Detail detail) {
  const Source source{evidence, verdict, detail};
  const bool reached = verdict.reached == verdict::Reached::yes;
  Document out = head_section(source);
  if (reached)
    add_under("Why", 2, out, why_section(source));
  add_under("What stands in the way", 2, out, obstacles_section(source));
  add_under("What to do next", 2, out, next_section(source));
  add_under(reached ? "What was measured" : "What was measured before it broke off", 2, out, measured(source));
  add_under("What left the workstation", 2, out, left_section(source));
  add_under("What was not shown", 2, out, not_shown_section(source));
  return out;
}

} // namespace remotemac::report
