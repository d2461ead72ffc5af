#pragma once
// From a job's id to the host that has it.
#include "cli/remote.h"

#include <string>

namespace remotemac::cli {

// --host when given, else what this user's job index says. Error no_job for a malformed or unknown id.
[[nodiscard]] Result<HostRecord> host_of_job(Context& context, const std::string& job, const std::string& host_flag);

} // namespace remotemac::cli
