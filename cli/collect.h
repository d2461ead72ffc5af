#pragma once
// Bringing back what a job left: evidence documents, declared outputs, logs and the record, into the run's folder. Only names that we planned
// are asked for; sizes are capped (logs at the limit that the job was given); what is missing is told, not guessed.
#include "cli/remote.h"
#include "cli/run_store.h"
#include "common/job.h"

#include <map>

namespace remotemac::cli {

struct Collected {
  std::map<std::string, std::string> missing; // name -> why
  std::uint64_t bytes = 0;
  std::size_t files = 0;
};

// `spec` is the plan that was submitted: what is asked for follows from it, not from what the host says it has.
[[nodiscard]] Result<Collected> collect_job(Context& context, Session& session, const std::string& job, const JobSpec& spec, const std::filesystem::path& run_folder);

} // namespace remotemac::cli
