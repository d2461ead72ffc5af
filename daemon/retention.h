#pragma once
// Nothing is kept for ever: jobs until their expiry, snapshots and chunks while a job needs them or for a grace after they came,
// environments while they are used. In steps, because jobs and chunks belong to different threads of the daemon, and because none of
// them may be busy with this for long (engine.h puts the steps together).
#include "common/clock.h"
#include "daemon/job_store.h"
#include "daemon/snapshot_store.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
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

// Discards finished jobs that have expired. A job that cannot be discarded is kept and tried again.
[[nodiscard]] Result<JobSweep> sweep_jobs(FileSystem& disk, JobStore& jobs, SystemTime now);

// Chunks that may go, and what was known when they were found.
struct UselessChunks {
  std::vector<Digest> chunks;
  std::set<std::shared_ptr<const Manifest>> offers;
};

// The snapshots that may go: released ones, and unreferenced ones whose grace is over.
[[nodiscard]] Result<std::vector<Digest>> expired_snapshots(SnapshotStore& snapshots, const JobSweep& jobs, SystemTime now, std::chrono::seconds grace);
// Removes one of them; its chunks join `doomed`.
[[nodiscard]] Result<void> remove_expired(SnapshotStore& snapshots, const Digest& expired, std::unordered_set<Digest>& doomed);
// Chunks that no snapshot and no offer needs: at once if they were in a removed snapshot, else when their grace is over (an interrupted
// push may still go on). Changes nothing; may take long, and offers may come meanwhile.
[[nodiscard]] Result<UselessChunks> find_useless(SnapshotStore& snapshots, BlobStore& blobs, const std::unordered_set<Digest>& doomed, SystemTime now, std::chrono::seconds grace);
// Removes the last `most` of them, but none that an offer made since needs. The storage thread's; gives how many went.
[[nodiscard]] Result<std::size_t> remove_useless(SnapshotStore& snapshots, BlobStore& blobs, UselessChunks& useless, std::size_t most);

// Environments not used for `unused`, and half-made ones that nobody is making.
[[nodiscard]] Result<std::size_t> sweep_environments(FileSystem& disk, const std::filesystem::path& envs, SystemTime now, std::chrono::seconds unused);

// RFC 3339 UTC as rfc3339() writes it; nullopt for anything else.
[[nodiscard]] std::optional<SystemTime> parse_time(const std::string& text);

} // namespace remotemac::daemon
