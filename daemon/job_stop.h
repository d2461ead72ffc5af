#pragma once
// Why a running job must end: its cancel file, a signal to the shim, the clocks of job and step, the disk below work/. One thread.
#include "daemon/child.h"

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace remotemac::daemon {

// Bytes on disk below a folder (not following links); what cannot be read counts nothing.
[[nodiscard]] std::uint64_t tree_bytes(const std::filesystem::path& folder);

// Blocks the signals that ask a shim to end, so that they can be asked for with sigpending(2) instead of a handler.
void block_stop_signals();

class JobStop final : public StopSource {
public:
  struct DiskWatch {
    std::filesystem::path folder;
    std::uint64_t max_bytes = 0;
    std::chrono::milliseconds interval{1000};
  };

  JobStop(std::filesystem::path cancel_file, DiskWatch disk) : m_cancel_file(std::move(cancel_file)), m_disk(std::move(disk)) {}

  // From now on the job's own clock runs; it covers all steps.
  void start_job_clock(std::chrono::seconds limit) { m_job_end = Clock::now() + limit; }
  // Each step (and the environment stage) begins with this. The disk is watched only for steps.
  enum class Watch { clocks, clocks_and_disk };
  void begin(std::chrono::seconds limit, Watch watch);
  [[nodiscard]] std::optional<StopCause> check() override;
  [[nodiscard]] bool cancelled() const;

private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool disk_over();

  std::filesystem::path m_cancel_file;
  DiskWatch m_disk;
  Clock::time_point m_job_end = Clock::time_point::max();
  Clock::time_point m_step_end = Clock::time_point::max();
  Clock::time_point m_next_disk_check = Clock::time_point::max();
};

} // namespace remotemac::daemon
