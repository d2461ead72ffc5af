#pragma once
// The environment stage of a job: a virtual environment under envs/<key>, made once for the same requirement files, interpreter and
// visible packages, and used again. The only stage with network. Runs in the shim; one job per process, locked against others.
#include "common/clock.h"
#include "common/file_system.h"
#include "common/job.h"
#include "common/process_runner.h"
#include "daemon/child.h"
#include "daemon/host_config.h"
#include "daemon/interpreters.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace remotemac::daemon {

struct EnvironmentRequest {
  JobEnvironment wanted;
  HostConfig host;
  Digest snapshot;
  std::filesystem::path tree; // the snapshot's folder, read only
  std::string job;
  std::map<std::string, std::string> ours; // this process's environment
};

struct PreparedEnvironment {
  std::string key;
  bool reused = false;
  std::filesystem::path folder;
  std::filesystem::path python;
  std::string torch;               // version, "" when torch is not there
  std::filesystem::path torch_lib; // folder of its shared libraries
};

class EnvironmentMaker {
public:
  EnvironmentMaker(FileSystem& disk, ProcessRunner& runner, ChildRunner& children, std::filesystem::path envs)
      : m_disk(disk), m_runner(runner), m_children(children), m_envs(std::move(envs)) {}

  // Error environment with a reason that names the requirement; interrupted when cancelled; deadline. After an error nothing
  // half-made stays. What the tools print goes to `log`.
  [[nodiscard]] Result<PreparedEnvironment> prepare(const EnvironmentRequest& request, CappedLog& log, StopSource& stop);

private:
  struct Plan;
  [[nodiscard]] Result<Plan> plan(const EnvironmentRequest& request);
  [[nodiscard]] Result<void> make(const Plan& plan, const EnvironmentRequest& request, CappedLog& log, StopSource& stop);
  [[nodiscard]] Result<void> install(const Plan& plan, const EnvironmentRequest& request, CappedLog& log, StopSource& stop);
  [[nodiscard]] Result<void> run(const std::vector<std::string>& argv, const std::filesystem::path& folder, const EnvironmentRequest& request, CappedLog& log, StopSource& stop);
  [[nodiscard]] Result<void> show_packages(const Plan& plan, const PythonInfo& made);
  [[nodiscard]] Result<void> find_torch(PreparedEnvironment& environment);
  [[nodiscard]] Result<std::string> ask(const std::filesystem::path& python, const char* question);

  FileSystem& m_disk;
  ProcessRunner& m_runner;
  ChildRunner& m_children;
  std::filesystem::path m_envs;
};

// Does the text name files of the project (`-r other.txt`, `-e .`, `./local`, file: ...)? Then the whole snapshot is part of the key.
[[nodiscard]] bool has_local_references(std::string_view requirements);
// What pip's output says about why it failed: the requirement by name, then pip's own last words. One cleaned line.
[[nodiscard]] std::string explain_pip_failure(std::string_view log_tail);
// What the tools of this stage may see of our environment: paths, language, proxies and certificates, pip's settings.
[[nodiscard]] std::map<std::string, std::string> installer_environment(const std::map<std::string, std::string>& ours, const std::string& job);

} // namespace remotemac::daemon
