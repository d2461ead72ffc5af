#pragma once
// Shims as real processes: `remotemacd shim --job-dir <dir>` in a session of its own.
#include "daemon/supervisor.h"

#include <filesystem>

namespace remotemac::daemon {

class PosixShimHost final : public ShimHost {
public:
  explicit PosixShimHost(std::filesystem::path program) : m_program(std::move(program)) {}
  [[nodiscard]] Result<pid_t> start(const JobPaths& paths) override;
  [[nodiscard]] bool alive(const JobPaths& paths) override;
  [[nodiscard]] bool ended(pid_t pid) override;
  void kill_leftovers(const std::string& job) override;

private:
  std::filesystem::path m_program;
};

} // namespace remotemac::daemon
