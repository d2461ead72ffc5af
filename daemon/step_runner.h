#pragma once
// One step of a job: fresh copy of the snapshot, clean environment, no network, the harness or the worker, and what it left behind.
// Runs in the shim. A crash of the script is a result of the step, never an error of ours.
#include "common/file_system.h"
#include "common/job.h"
#include "common/process_runner.h"
#include "daemon/child.h"
#include "daemon/embedded.h"
#include "daemon/environment.h"
#include "daemon/host_config.h"
#include "daemon/job_stop.h"
#include "daemon/job_store.h"
#include "daemon/step_environment.h"

#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace remotemac::daemon {

// What all steps of a job share. References outlive the runner.
struct StepContext {
  FileSystem& disk;
  ProcessRunner& runner;
  ChildRunner& children;
  JobStop& stop;
  const JobSpec& spec;
  JobPaths paths;
  std::string job;
  HostConfig host;
  PreparedEnvironment environment;
  NetworkGuard guard = NetworkGuard::none;
  std::filesystem::path snapshots;
  std::filesystem::path harness; // the file of the harness that Python runs
  std::filesystem::path program_folder;
  std::map<std::string, std::string> ours;
};

struct StepResult {
  StepRecord record;
  std::string detail;                         // for people; "" when the reason says it all
  std::map<std::string, std::string> removed; // variables that the step was not given
  bool ended_by_job_limit = false;            // no further step may start
};

class StepRunner {
public:
  explicit StepRunner(StepContext context) : m_context(std::move(context)) {}
  // Never fails: what goes wrong is in the record (reason start-failed, with the detail).
  [[nodiscard]] StepResult run(const JobStep& step);

private:
  struct Places;
  struct Command {
    std::vector<std::string> argv;
    StepEnvironment environment;
  };
  [[nodiscard]] Result<void> prepare(const JobStep& step, const Places& places, const StepEnvironment& environment);
  [[nodiscard]] Result<Command> command(const JobStep& step, const Places& places, StepResult& result);
  [[nodiscard]] Result<void> worker_command(const JobStep& step, const Places& places, Command& command, StepResult& result);
  [[nodiscard]] Result<void> execute(const JobStep& step, const Places& places, StepResult& result);
  void judge(const ChildEnd& end, StepResult& result) const;
  void keep_results(const JobStep& step, const Places& places, StepResult& result);

  StepContext m_context;
  std::uint64_t m_output_bytes = 0; // of all steps so far
};

// Writes the harness into a folder of its own below `folder`, named by the digest of all its files, unless it is there already: whole,
// unchanged, and with nothing beside it. The path of its __main__.py. One caller at a time.
[[nodiscard]] Result<std::filesystem::path> install_harness(FileSystem& disk, const std::filesystem::path& folder, std::span<const embedded::File> files);

} // namespace remotemac::daemon
