#pragma once
// Putting daemon, worker and harness (embedded in the daemon) on a host: a versioned folder, files verified by digest, put in place by
// rename, never over an existing file. Idempotent: what is there with the right digest is not sent again.
#include "common/result.h"
#include "sync/transport.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace remotemac::cli {

struct RemoteProbe {
  std::string system;  // Darwin, Linux
  std::string machine; // arm64, x86_64
  std::string home;    // absolute
  std::string python;  // python3 found there, "" = none
  std::size_t noise_bytes = 0; // printed by the login shell before our marker
};

// Asks the host through one shell command; whatever the login shell prints is skipped.
[[nodiscard]] Result<RemoteProbe> probe_host(sync::Transport& transport);

struct Payload {
  struct File {
    std::filesystem::path path;
    std::string name;
    std::string sha256;
    std::uint64_t size_bytes = 0;
  };
  std::vector<File> files;
  std::string version_name; // <version>-<12 hex digits over all files>
};

// Systems for which binaries are there, whether or not they are good: beside remotemac (its own system) and in
// ../libexec/remotemac/<system>-<machine>/.
struct PayloadSystem {
  std::string system;
  std::string machine;
};
[[nodiscard]] std::vector<PayloadSystem> payload_systems(const std::filesystem::path& executable);
[[nodiscard]] PayloadSystem own_system();

// Binaries for that system: ../libexec/remotemac/<system>-<machine>/, or beside remotemac (same system). Error setup when there are none, or
// when they are programs for another system.
[[nodiscard]] Result<Payload> find_payload(const std::filesystem::path& executable, const std::string& system, const std::string& machine);

struct Installed {
  std::string install_dir;
  std::string state_dir;
  std::uint64_t sent_bytes = 0;
};

using InstallProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
[[nodiscard]] Result<Installed> install_on_host(sync::Transport& transport, const RemoteProbe& probe, const Payload& payload, const InstallProgress& progress);

struct Removed {
  std::vector<std::string> deleted; // folders that were there and are gone: every version, and the state
  std::vector<std::string> foreign; // seen beside or inside them, not made by remotemac: left alone
};
// Deletes the state folder and every version folder beside install_dir (also of earlier releases), file by file what install_on_host puts
// there, and lists again. Error setup that names what of ours is left.
[[nodiscard]] Result<Removed> remove_from_host(sync::Transport& transport, const std::string& install_dir, const std::string& state_dir);

} // namespace remotemac::cli
