#pragma once
// The reference: the same mini-run as an ordinary job on host local, with its operations recorded.
#include "cli/workflow.h"

namespace remotemac::cli {

struct ReferenceSummary {
  bool usable = false;   // the script ended by itself with exit status 0
  std::string device;    // cuda, cpu: where its operations ran
  std::size_t signatures = 0;
  std::string recording; // remotemac-recording document; "" when there is none
  std::string text;      // one sentence for people
};

[[nodiscard]] Result<JobDone> make_reference_run(Context& context, const ProjectFile& project);
[[nodiscard]] Result<ReferenceSummary> summarize_reference(const ProjectFile& project, const RunInfo& info);

} // namespace remotemac::cli
