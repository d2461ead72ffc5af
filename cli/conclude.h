#pragma once
// From what was brought back to the verdict: reads the run's folder and the reference's, assembles the evidence file, compares, judges, and
// writes evidence.json, report.md and report.json. No network. Can be repeated at any time over a collected run.
#include "cli/command.h"
#include "cli/project_file.h"
#include "cli/run_store.h"
#include "cli/verdict/verdict.h"
#include "common/evidence.h"

namespace remotemac::cli {

struct Concluded {
  Evidence evidence;
  verdict::Verdict verdict;
};

[[nodiscard]] Result<Concluded> conclude_run(Context& context, const ProjectFile& project, RunStore& store, RunInfo info);
// The newest collected reference of the same project files and command; nullopt when there is none.
[[nodiscard]] std::optional<RunInfo> fitting_reference(RunStore& store, const ProjectFile& project, const std::string& project_digest);

} // namespace remotemac::cli
