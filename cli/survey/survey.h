#pragma once
// Surveys a project on this machine: requirement files, sources, CUDA-only packages, hard-coded devices. Runs no code of the
// project: sources are parsed by this machine's python3 in a process of its own, which imports nothing of the project.
// Blocking (seconds); links are not followed; any thread. Paths in the result are relative to `root`.
#include "common/process_runner.h"
#include "common/result.h"
#include "common/survey.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::survey {

// `command`: the arguments for the environment's Python ("train.py", or "-m", "package.module", ...).
// Error project when root is no folder. Whatever else could not be read is named in not_surveyed.
[[nodiscard]] Result<Survey> survey(const std::filesystem::path& root, const std::vector<std::string>& command, ProcessRunner& runner);
// "2 of 2 Python files read, 1 needed package without a Mac version (triton), 1 place to change, effort minutes"
[[nodiscard]] std::string one_line(const Survey& survey);

} // namespace remotemac::survey
