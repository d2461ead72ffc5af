#pragma once
// What this machine is (docs/evidence.md, "Host facts"). Only facts that were found; null for the rest. Asks helper programs on
// macOS, so a call may take a second.
#include "common/clock.h"
#include "common/file_system.h"
#include "common/process_runner.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace remotemac::daemon {

[[nodiscard]] nlohmann::json host_facts(FileSystem& disk, ProcessRunner& runner, const Clock& clock, const std::filesystem::path& state_dir);
// Changes with every start of the machine; "" when it cannot be told.
[[nodiscard]] std::string boot_id();

} // namespace remotemac::daemon
