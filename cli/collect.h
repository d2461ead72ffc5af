#pragma once
// Bringing back what a job left: evidence documents, declared outputs, logs and the record, into the run's folder. Only names that we planned
// are asked for; sizes are capped; what is missing is told, not guessed.
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

[[nodiscard]] Result<Collected> collect_job(Context& context, Session& session, const JobRecord& record, const std::vector<std::string>& names, const std::filesystem::path& run_folder);

} // namespace remotemac::cli
