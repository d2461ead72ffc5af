#pragma once
// The process that owns one job: it makes the environment, runs the steps, and writes everything that is known about the job. It has
// a session of its own, outlives the daemon, and is the only writer of the job's folder while it lives (it holds shim.lock).
// Single-threaded; no Asio.
#include "common/job.h"
#include "common/result.h"
#include "daemon/child.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace remotemac::daemon {

struct ShimTimes {
  StopLadder ladder;
  std::chrono::milliseconds disk_interval{1000};
  std::chrono::seconds environment_limit{3600};
};

// Runs the job to its end. An error means that the job could not be taken (another shim has it, its folder is unusable).
[[nodiscard]] Result<void> run_shim(const std::filesystem::path& job_dir, const ShimTimes& times);

struct JobEnd {
  JobState state = JobState::succeeded;
  std::string reason;
};

// What became of a job whose steps ended so. `details` has one text per step. Pure.
[[nodiscard]] JobEnd judge_job(const std::vector<StepRecord>& steps, const std::vector<std::string>& details, std::optional<StopCause> ended_early);

} // namespace remotemac::daemon
