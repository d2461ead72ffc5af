#pragma once
// The machine battery: every probe group in turn, each in its own child process.
#include "daemon/worker/document.h"
#include "daemon/worker/options.h"

namespace remotemac::worker {

[[nodiscard]] Document run_battery(const Options& options);

// What the child of a battery or a replay is started with, and the environment that is taken from it.
[[nodiscard]] std::vector<std::string> child_arguments(const Options& options, const std::string& group);
[[nodiscard]] std::map<std::string, std::string> strict_environment();
[[nodiscard]] SessionFacts facts_of(const std::vector<GroupReport>& groups);
// Beside the document: <out>.<name>.journal
[[nodiscard]] std::filesystem::path beside(const std::filesystem::path& out, const std::string& name);

} // namespace remotemac::worker
