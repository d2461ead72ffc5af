#pragma once
// Starts one shim for each job, notices how it ended, and marks a job lost that ended without saying how. Decides nothing about a
// running job: that is its shim's work. Not thread-safe: the daemon's job thread. All calls block only on the disk.
#include "common/clock.h"
#include "daemon/job_queue.h"
#include "daemon/job_store.h"

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>

namespace remotemac::daemon {

// The processes as a dependency.
class ShimHost {
public:
  virtual ~ShimHost() = default;
  // Starts the shim of a job in a session of its own. It outlives this process.
  [[nodiscard]] virtual Result<pid_t> start(const JobPaths& paths) = 0;
  // The shim of this job lives (it holds its lock), whoever started it.
  [[nodiscard]] virtual bool alive(const JobPaths& paths) = 0;
  // The process that start() gave has ended; collects it.
  [[nodiscard]] virtual bool ended(pid_t pid) = 0;
  // Kills whatever a vanished shim left running.
  virtual void kill_leftovers(const std::string& job) = 0;
};

class Supervisor {
public:
  Supervisor(FileSystem& disk, JobStore& store, ShimHost& host, const Clock& clock, std::string boot_id)
      : m_disk(disk), m_store(store), m_host(host), m_clock(clock), m_boot_id(std::move(boot_id)) {}

  // At start: finds waiting, running and lost jobs again.
  [[nodiscard]] Result<void> recover();
  void submitted(const std::string& id);
  // The state afterwards; a running job is only asked to end.
  [[nodiscard]] Result<JobState> cancel(const std::string& id);
  // Looks at running jobs and starts the next one. Cheap; called several times a second while busy().
  void tick();
  [[nodiscard]] bool busy() const { return !m_queue.empty(); }
  [[nodiscard]] const JobQueue& queue() const { return m_queue; }

private:
  struct Started {
    pid_t pid = -1;
    std::chrono::steady_clock::time_point at;
  };
  void start_next();
  void look_at(const std::string& id);
  // False when the disk did not let us; tried again later.
  bool end_without_shim(const std::string& id, JobRecord record);
  [[nodiscard]] std::string why_lost(const std::string& id, const JobRecord& record);

  FileSystem& m_disk;
  JobStore& m_store;
  ShimHost& m_host;
  const Clock& m_clock;
  std::string m_boot_id;
  JobQueue m_queue;
  std::map<std::string, Started> m_started; // not yet seen alive
  std::map<std::string, std::chrono::steady_clock::time_point> m_retry_at;
};

} // namespace remotemac::daemon
