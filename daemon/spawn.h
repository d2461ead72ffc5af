#pragma once
// Starting programs that outlive us: a session of their own, no inherited descriptors, no terminal. Not for steps of a job.
#include "common/result.h"

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace remotemac::daemon {

// Standard input is empty, standard output is thrown away, standard error is appended to `error_file` (mode 0600).
[[nodiscard]] Result<pid_t> spawn_detached(const std::vector<std::string>& argv, const std::filesystem::path& folder, const std::filesystem::path& error_file);

// True when the child has ended (and is collected now); also true when it is not our child any more.
[[nodiscard]] bool collect_if_ended(pid_t pid);

// The running program's own file.
[[nodiscard]] Result<std::filesystem::path> own_program();

} // namespace remotemac::daemon
