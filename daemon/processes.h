#pragma once
// Looking at and ending processes that are not direct children: what a step left behind. Linux reads /proc, macOS asks the kernel.
// Every process of a job carries REMOTEMAC_JOB=<id> in its environment; the tag finds those that left their group and session.
#include "common/clock.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace remotemac::daemon {

inline constexpr std::string_view k_job_tag = "REMOTEMAC_JOB";

// Processes of this user whose initial environment holds REMOTEMAC_JOB=<job>, without this process.
[[nodiscard]] std::vector<pid_t> tagged_processes(std::string_view job);
// All descendants of `root`, without it (children of a dead parent count when `root` is their reaper).
[[nodiscard]] std::vector<pid_t> descendants(pid_t root);
// `tagged`: only processes that carry the tag. `own_descendants_too`: also every descendant of this process, which then collects all
// its dead children; only for the shim, which has no other children.
enum class SweepScope { tagged, own_descendants_too };
// SIGKILL again and again until none is left. Returns how many were killed. Gives up at the deadline.
std::size_t sweep_processes(std::string_view job, SweepScope scope, const Deadline& deadline);
// From now on, orphaned descendants become our children (Linux), so that a daemonising step cannot escape. No effect elsewhere.
void become_reaper();
// A number that differs for two processes that had the same id; 0 when it cannot be told.
[[nodiscard]] std::uint64_t process_start_time(pid_t pid);

} // namespace remotemac::daemon
