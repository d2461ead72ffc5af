#include "daemon/retention.h"

#include "common/log.h"
#include "common/text.h"
#include "daemon/file_lock.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <unordered_set>

namespace remotemac::daemon {
namespace {
constexpr std::chrono::hours k_unreadable_kept{7 * 24};

std::int64_t seconds_of(SystemTime time) { return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(); }

// A record that cannot be read has no expiry; the age of its file stands in.
std::optional<SystemTime> expiry_of(FileSystem& disk, const JobStore& jobs, const JobRecord& record) {
  if (const auto time = parse_time(record.expires))
    return time;
  const Result<FileStat> found = disk.stat(jobs.paths(record.job).root);
  if (!found)
    return std::nullopt;
  return SystemTime(std::chrono::seconds(found->modified_s)) + k_unreadable_kept;
}

void add_chunks(const Manifest& manifest, std::unordered_set<Digest>& to) {
  for (const ManifestFile& file : manifest.files) {
    for (const ChunkRef& chunk : file.chunks)
      to.insert(chunk.digest);
  }
}
} // namespace

std::optional<SystemTime> parse_time(const std::string& text) {
  std::tm utc{};
  int millis = 0;
  char z = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3d%c", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &millis, &z) != 8 || z != 'Z')
    return std::nullopt;
  utc.tm_year -= 1900;
  utc.tm_mon -= 1;
  const std::time_t seconds = ::timegm(&utc);
  return std::chrono::system_clock::from_time_t(seconds) + std::chrono::milliseconds(millis);
}

Result<JobSweep> sweep_jobs(FileSystem& disk, JobStore& jobs, SystemTime now) {
  RM_ASSIGN(const std::vector<JobRecord> records, jobs.list());
  JobSweep out;
  for (const JobRecord& record : records) {
    const std::optional<SystemTime> expiry = is_final(record.state) ? expiry_of(disk, jobs, record) : std::nullopt;
    if (expiry && *expiry <= now) {
      const Result<void> removed = jobs.discard(record.job);
      if (removed) {
        log_event(LogLevel::info, "jobs", "expired", {{"job", record.job}});
        out.removed.push_back(record.job);
        out.released.insert(record.snapshot);
        continue;
      }
      log_event(LogLevel::error, "jobs", "not-removed", {{"job", record.job}, {"error", removed.error().chain()}});
    } else if (expiry && (!out.next_expiry || *expiry < *out.next_expiry)) {
      out.next_expiry = expiry;
    }
    out.referenced.insert(record.snapshot);
    ++out.remaining;
  }
  std::erase_if(out.released, [&](const std::string& each) { return out.referenced.contains(each); });
  return out;
}

Result<std::vector<Digest>> expired_snapshots(SnapshotStore& snapshots, const JobSweep& jobs, SystemTime now, std::chrono::seconds grace) {
  RM_ASSIGN(const std::vector<Digest> all, snapshots.list());
  std::vector<Digest> out;
  for (const Digest& each : all) {
    const bool old = snapshots.committed_s(each) + grace.count() <= seconds_of(now);
    if (!jobs.referenced.contains(each.hex()) && (old || jobs.released.contains(each.hex())))
      out.push_back(each);
  }
  return out;
}

Result<void> remove_expired(SnapshotStore& snapshots, const Digest& expired, std::unordered_set<Digest>& doomed) {
  if (const Result<Manifest> manifest = snapshots.manifest(expired))
    add_chunks(*manifest, doomed);
  RM_TRY_WHILE("removing an expired snapshot", snapshots.remove(expired));
  return ok();
}

Result<UselessChunks> find_useless(SnapshotStore& snapshots, BlobStore& blobs, const std::unordered_set<Digest>& doomed, SystemTime now, std::chrono::seconds grace) {
  UselessChunks out;
  std::unordered_set<Digest> needed;
  for (const auto& offered : snapshots.pinned()) {
    add_chunks(*offered, needed);
    out.offers.insert(offered);
  }
  RM_ASSIGN(const std::vector<Digest> left, snapshots.list());
  for (const Digest& each : left) {
    const Result<Manifest> manifest = snapshots.manifest(each);
    if (manifest)
      add_chunks(*manifest, needed);
    else
      log_event(LogLevel::warn, "jobs", "manifest-unreadable", {{"snapshot", each.hex().substr(0, 12)}, {"error", manifest.error().chain()}});
  }
  const std::int64_t old_before = seconds_of(now) - grace.count();
  RM_TRY(blobs.visit(old_before, [&](const Digest& digest, std::int64_t modified_s) {
    if (!needed.contains(digest) && (doomed.contains(digest) || modified_s <= old_before))
      out.chunks.push_back(digest);
    return ok();
  }));
  return out;
}

Result<std::size_t> remove_useless(SnapshotStore& snapshots, BlobStore& blobs, UselessChunks& useless, std::size_t most) {
  for (const auto& offered : snapshots.pinned()) {
    if (!useless.offers.insert(offered).second)
      continue;
    std::unordered_set<Digest> needed;
    add_chunks(*offered, needed);
    std::erase_if(useless.chunks, [&](const Digest& each) { return needed.contains(each); });
  }
  std::size_t removed = 0;
  for (; removed < most && !useless.chunks.empty(); ++removed) {
    RM_TRY_WHILE("removing an unused chunk", blobs.remove(useless.chunks.back()));
    useless.chunks.pop_back();
  }
  return removed;
}

Result<std::size_t> sweep_environments(FileSystem& disk, const std::filesystem::path& envs, SystemTime now, std::chrono::seconds unused) {
  RM_ASSIGN(const std::vector<DirEntry> entries, disk.list(envs));
  std::size_t removed = 0;
  for (const DirEntry& entry : entries) {
    if (entry.kind != EntryKind::directory)
      continue;
    // Held until this one is removed: a job that wants it meanwhile waits, and then makes it anew.
    RM_ASSIGN(const std::optional<FileLock> lock, FileLock::try_take(envs / (entry.name + ".lock")));
    if (!lock)
      continue;
    const bool whole = disk.exists(envs / entry.name / "remotemac-environment.json");
    const Result<FileStat> used = disk.stat(envs / (entry.name + ".used"));
    const std::int64_t last_used = used ? used->modified_s : 0;
    if (whole && last_used + unused.count() > seconds_of(now))
      continue;
    RM_TRY_WHILE("removing an unused environment", disk.remove_tree(envs / entry.name));
    RM_TRY(disk.remove_tree(envs / (entry.name + ".used")));
    ++removed;
  }
  return removed;
}

} // namespace remotemac::daemon
