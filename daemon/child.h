#pragma once
// Runs one process of a job to its end: own session, no network where asked, output into capped logs, stop ladder, and nothing of it
// left afterwards. Used by the shim only, which is single-threaded: the child is made by fork().
#include "daemon/capped_log.h"
#include "daemon/network_guard.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::daemon {

enum class StopCause { cancelled, step_wall, job_wall, disk };

// Asked every tenth of a second while a child runs: must it end?
class StopSource {
public:
  virtual ~StopSource() = default;
  [[nodiscard]] virtual std::optional<StopCause> check() = 0;
};

struct ChildSpec {
  std::vector<std::string> argv; // argv[0] with a '/'
  std::filesystem::path folder;
  std::map<std::string, std::string> environment;
  NetworkGuard network = NetworkGuard::none;
  CappedLog* out = nullptr;
  CappedLog* err = nullptr;
};

struct ChildEnd {
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<StopCause> stopped; // we made it end, whatever it then answered
  double seconds = 0;
  std::uint64_t max_rss_bytes = 0;
};

class ChildRunner {
public:
  virtual ~ChildRunner() = default;
  // Error process: it could not be started at all.
  [[nodiscard]] virtual Result<ChildEnd> run(const ChildSpec& spec, StopSource& stop) = 0;
};

// SIGINT, wait, SIGTERM, wait, SIGKILL; then the sweep. A full disk is not waited for: SIGKILL at once.
struct StopLadder {
  std::chrono::milliseconds interrupt_grace{8000};
  std::chrono::milliseconds terminate_grace{5000};
};

class PosixChildRunner final : public ChildRunner {
public:
  PosixChildRunner(std::string job, StopLadder ladder) : m_job(std::move(job)), m_ladder(ladder) {}
  [[nodiscard]] Result<ChildEnd> run(const ChildSpec& spec, StopSource& stop) override;

private:
  std::string m_job;
  StopLadder m_ladder;
};

} // namespace remotemac::daemon
