#include "cli/job_lookup.h"

#include "cli/run_store.h"
#include "common/job.h"
#include "common/text.h"

namespace remotemac::cli {

Result<HostRecord> host_of_job(Context& context, const std::string& job, const std::string& host_flag) {
  if (!is_job_id(job))
    return Error(ErrorCode::no_job, "'" + clean_line(job, 100) + "' is not a job's id", "remotemac jobs lists them");
  RM_ASSIGN(const HostStore store, HostStore::load(context.paths, context.config));
  if (!host_flag.empty())
    return store.find(host_flag);
  const auto place = find_job(context.paths, job);
  if (!place)
    return Error(ErrorCode::no_job, "job " + job + " was not submitted from here", "name its host with --host, or list jobs with: remotemac jobs --host NAME");
  return store.find(place->host);
}

} // namespace remotemac::cli
