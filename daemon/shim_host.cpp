#include "daemon/shim_host.h"

#include "daemon/file_lock.h"
#include "daemon/processes.h"
#include "daemon/spawn.h"

namespace remotemac::daemon {
namespace {
constexpr std::chrono::seconds k_sweep_limit{5};
}

Result<pid_t> PosixShimHost::start(const JobPaths& paths) {
  const std::vector<std::string> argv{m_program.string(), "shim", "--job-dir", paths.root.string()};
  return spawn_detached(argv, paths.root, paths.shim_error());
}

bool PosixShimHost::alive(const JobPaths& paths) { return FileLock::holder(paths.shim_lock()).has_value(); }

bool PosixShimHost::ended(pid_t pid) { return collect_if_ended(pid); }

void PosixShimHost::kill_leftovers(const std::string& job) { sweep_processes(job, SweepScope::tagged, Deadline(k_sweep_limit)); }

} // namespace remotemac::daemon
