#pragma once
// Takes what a step left behind: the named files, or all files of a named folder, are moved out of the step's working copy. Only
// regular files reached without a link; never more than the job may keep. The names were fixed before the job started.
#include "common/file_system.h"
#include "common/rel_path.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::daemon {

struct CollectedOutputs {
  std::uint64_t size_bytes = 0;
  std::vector<std::string> missing;    // not there, or not a regular file
  std::vector<std::string> over_limit; // left behind because of the limit
};

[[nodiscard]] Result<CollectedOutputs> collect_outputs(FileSystem& disk, const std::filesystem::path& tree, const std::vector<RelPath>& names,
                                                       const std::filesystem::path& destination, std::uint64_t max_bytes);
// Moves one regular file; false when there is none, error io when it is larger than max_bytes.
[[nodiscard]] Result<bool> collect_file(FileSystem& disk, const std::filesystem::path& from, const std::filesystem::path& to, std::uint64_t max_bytes);

} // namespace remotemac::daemon
