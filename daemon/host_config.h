#pragma once
// host.toml in the state folder: what the owner of the host decides (docs/protocol.md). Read anew for each job. Not for people's
// projects; those never reach this file.
#include "common/file_system.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::daemon {

enum class AllowNetwork { no, yes };

struct HostConfig {
  std::string python;        // "" = looked for
  std::string packages_from; // "" = none
  std::vector<std::string> worker_preload;
  std::vector<std::string> workers;
  AllowNetwork allow_network = AllowNetwork::no; // steps run even where no way is found to keep them off the network
};

// A missing file gives the defaults; a broken one or an unknown key is an error that names file and line.
[[nodiscard]] Result<HostConfig> load_host_config(FileSystem& disk, const std::filesystem::path& file);

} // namespace remotemac::daemon
