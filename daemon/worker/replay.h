#pragma once
// Replays the signatures of a recording: strict first; what has no kernel is asked again with the CPU fallback allowed, to tell
// "runs, but on the CPU" from "does not run".
#include "daemon/worker/document.h"
#include "daemon/worker/options.h"

namespace remotemac::worker {

// Errors: the recording cannot be read, the list for a child cannot be written.
[[nodiscard]] Result<Document> run_replay(const Options& options);
// The cases of these signatures, for the child.
[[nodiscard]] std::vector<Case> replay_cases(Recording& recording, const std::vector<std::size_t>& indices);
[[nodiscard]] Result<std::vector<std::size_t>> read_selection(const std::filesystem::path& file, std::size_t count);

} // namespace remotemac::worker
