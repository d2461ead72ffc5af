#pragma once
// The folder of one daemon: where each thing lies (docs/protocol.md, "Job folder on the host"). Plain paths; not for contents.
#include "common/file_system.h"

#include <filesystem>
#include <string_view>

namespace remotemac::daemon {

class StateDir {
public:
  // Makes the folder and its parts (mode 0700). Refuses a relative path, a link, or a folder that belongs to another user or that
  // others may write.
  [[nodiscard]] static Result<StateDir> open(FileSystem& disk, const std::filesystem::path& root);

  [[nodiscard]] const std::filesystem::path& root() const { return m_root; }
  [[nodiscard]] std::filesystem::path blobs() const { return m_root / "blobs"; }
  [[nodiscard]] std::filesystem::path snapshots() const { return m_root / "snapshots"; }
  [[nodiscard]] std::filesystem::path envs() const { return m_root / "envs"; }
  [[nodiscard]] std::filesystem::path jobs() const { return m_root / "jobs"; }
  [[nodiscard]] std::filesystem::path harness() const { return m_root / "harness"; }
  [[nodiscard]] std::filesystem::path host_toml() const { return m_root / "host.toml"; }
  [[nodiscard]] std::filesystem::path lock() const { return m_root / "serve.lock"; }
  [[nodiscard]] std::filesystem::path log() const { return m_root / "serve.log"; }
  // Standard error of a detached daemon: only what it says when it cannot start, or when it dies.
  [[nodiscard]] std::filesystem::path standard_error() const { return m_root / "serve.err"; }

private:
  explicit StateDir(std::filesystem::path root) : m_root(std::move(root)) {}
  std::filesystem::path m_root;
};

// The socket's name inside the state folder. Both sides change into that folder and use the bare name, so that a long path cannot
// run into the limit of 104 bytes that macOS sets to socket addresses.
inline constexpr std::string_view k_socket_name = "serve.sock";

} // namespace remotemac::daemon
