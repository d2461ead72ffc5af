#pragma once
// Job folders on disk: jobs/<id>/ with spec.json, record.json, events.jsonl and the rest (docs/protocol.md). A folder appears and
// disappears by rename, a record changes by atomic write, so a reader after any crash sees whole jobs only. Not for running jobs.
// Not thread-safe: the daemon's job thread, or the one shim that owns the job.
#include "common/clock.h"
#include "common/file_system.h"
#include "common/job.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::daemon {

struct JobPaths {
  std::filesystem::path root; // jobs/<id>
  [[nodiscard]] std::filesystem::path spec() const { return root / "spec.json"; }
  [[nodiscard]] std::filesystem::path record() const { return root / "record.json"; }
  [[nodiscard]] std::filesystem::path events() const { return root / "events.jsonl"; }
  [[nodiscard]] std::filesystem::path shim_info() const { return root / "shim.json"; }
  [[nodiscard]] std::filesystem::path shim_lock() const { return root / "shim.lock"; }
  [[nodiscard]] std::filesystem::path shim_log() const { return root / "shim.log"; }
  [[nodiscard]] std::filesystem::path shim_error() const { return root / "shim.err"; }
  [[nodiscard]] std::filesystem::path cancel() const { return root / "cancel"; }
  [[nodiscard]] std::filesystem::path logs() const { return root / "logs"; }
  [[nodiscard]] std::filesystem::path log(std::string_view stream) const { return logs() / (std::string(stream) + ".log"); }
  [[nodiscard]] std::filesystem::path work() const { return root / "work"; }
  [[nodiscard]] std::filesystem::path evidence() const { return root / "evidence"; }
  [[nodiscard]] std::filesystem::path outputs() const { return root / "outputs"; }
};

[[nodiscard]] Result<JobSpec> load_spec(FileSystem& disk, const JobPaths& paths);
[[nodiscard]] Result<JobRecord> load_record(FileSystem& disk, const JobPaths& paths);
[[nodiscard]] Result<void> save_record(FileSystem& disk, const JobPaths& paths, const JobRecord& record);
// Time of `finished` plus keep_s, as text.
[[nodiscard]] std::string expiry(std::chrono::system_clock::time_point from, std::uint64_t keep_s);

class JobStore {
public:
  JobStore(FileSystem& disk, const Clock& clock, std::filesystem::path root, std::string boot_id)
      : m_disk(disk), m_clock(clock), m_root(std::move(root)), m_boot_id(std::move(boot_id)) {}

  // A new queued job; its id. With a submit key the id follows from the key.
  [[nodiscard]] Result<std::string> create(const JobSpec& spec);
  // The job that this submit key has made already; nullopt when there is none, or no key. Error remote_refused: it made another job.
  [[nodiscard]] Result<std::optional<std::string>> submitted_before(const JobSpec& spec) const;
  [[nodiscard]] JobPaths paths(const std::string& id) const { return JobPaths{m_root / id}; }
  [[nodiscard]] bool exists(const std::string& id) const;
  // Error no_job for an id that is malformed or unknown.
  [[nodiscard]] Result<JobPaths> find(const std::string& id) const;
  [[nodiscard]] Result<JobRecord> record(const std::string& id) const;
  [[nodiscard]] Result<void> save(const JobRecord& record);
  // Oldest first. A job whose record cannot be read is listed as lost, with the reason; nothing is hidden.
  [[nodiscard]] Result<std::vector<JobRecord>> list() const;
  // Ends a job that no shim will ever end: event, then record. `expires` counts from now.
  [[nodiscard]] Result<void> finish(JobRecord record, JobState state, const std::string& reason);
  [[nodiscard]] Result<void> request_cancel(const std::string& id);
  // The job is gone when this returns; its files wait in discarded() for a thread that has the time to delete them.
  [[nodiscard]] Result<void> discard(const std::string& id);
  [[nodiscard]] Result<std::vector<std::filesystem::path>> discarded() const;
  // Removes what a crash left of jobs that were never complete. Discarded ones stay: they may be large, and this runs before the
  // daemon answers anybody.
  [[nodiscard]] Result<void> clean_up();

private:
  FileSystem& m_disk;
  const Clock& m_clock;
  std::filesystem::path m_root;
  std::string m_boot_id;
};

} // namespace remotemac::daemon
