#pragma once
// Nothing is kept for ever: jobs until their expiry, snapshots and chunks while a job needs them or for a grace after they came,
// environments while they are used. In two halves, because jobs and chunks belong to different threads of the daemon.
#include "common/clock.h"
#include "daemon/job_store.h"
#include "daemon/snapshot_store.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace remotemac::daemon {

using SystemTime = std::chrono::system_clock::time_point;

struct JobSweep {
  std::vector<std::string> removed;
  std::set<std::string> referenced; // snapshots of the jobs that remain
  std::set<std::string> released;   // snapshots of removed jobs that no remaining job needs
  std::optional<SystemTime> next_expiry;
  std::size_t remaining = 0;
};

// Job half: removes finished jobs that have expired. A job that cannot be removed is kept and tried again.
[[nodiscard]] Result<JobSweep> sweep_jobs(FileSystem& disk, JobStore& jobs, SystemTime now);

struct StoreSweep {
  std::size_t snapshots_removed = 0;
  std::size_t blobs_removed = 0;
  std::size_t snapshots_left = 0;
  std::size_t blobs_left = 0;
};

// The snapshots that may go: released ones, and unreferenced ones whose grace is over.
[[nodiscard]] Result<std::vector<Digest>> expired_snapshots(SnapshotStore& snapshots, const JobSweep& jobs, SystemTime now, std::chrono::seconds grace);
// Store half: removes these snapshots, then chunks that no snapshot and no offer needs: at once if they were in a removed snapshot,
// else when their grace is over (an interrupted push may still go on).
[[nodiscard]] Result<StoreSweep> sweep_store(SnapshotStore& snapshots, BlobStore& blobs, const std::vector<Digest>& expired, SystemTime now, std::chrono::seconds grace);

// Environments not used for `unused`, and half-made ones that nobody is making.
[[nodiscard]] Result<std::size_t> sweep_environments(FileSystem& disk, const std::filesystem::path& envs, SystemTime now, std::chrono::seconds unused);

// RFC 3339 UTC as rfc3339() writes it; nullopt for anything else.
[[nodiscard]] std::optional<SystemTime> parse_time(const std::string& text);

} // namespace remotemac::daemon
