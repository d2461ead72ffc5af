#pragma once
// Which remotemac-worker fits the torch of an environment: one built for the same minor series, run against that very libtorch.
#include "common/process_runner.h"
#include "common/file_system.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::daemon {

// "2.15.0+cu130" -> "2.15"; "" when the text is not a version.
[[nodiscard]] std::string torch_series(std::string_view version);
// remotemac-worker* beside the daemon, then those that host.toml names.
[[nodiscard]] std::vector<std::filesystem::path> worker_candidates(FileSystem& disk, const std::filesystem::path& program_folder, const std::vector<std::string>& named);
// The torch version that a worker was built for; nullopt when it does not run against the libraries in torch_lib (may be empty).
[[nodiscard]] std::optional<std::string> worker_torch(ProcessRunner& runner, const std::filesystem::path& worker, const std::filesystem::path& torch_lib);
[[nodiscard]] std::optional<std::filesystem::path> choose_worker(ProcessRunner& runner, const std::vector<std::filesystem::path>& candidates, std::string_view torch,
                                                                 const std::filesystem::path& torch_lib);
// LD_LIBRARY_PATH or DYLD_LIBRARY_PATH.
[[nodiscard]] std::string_view library_path_variable();

} // namespace remotemac::daemon
