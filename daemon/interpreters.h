#pragma once
// Python interpreters on this host: where they usually are, and what one of them says about itself. Nothing is imported but the
// standard library.
#include "common/process_runner.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::daemon {

struct PythonInfo {
  std::string executable; // what it calls itself; shims of version managers are seen through
  std::string version;    // 3.12.4
  std::string abi;        // tag of compiled modules, for example cpython-312-darwin
  std::vector<std::string> sites; // folders of installed packages
  std::string packages_digest;    // changes when a package is installed, removed or upgraded there
};

// Existing files: python3 in PATH, then the usual absolute places (a non-interactive PATH is poor, above all on macOS).
[[nodiscard]] std::vector<std::string> interpreter_candidates(const std::string& path_variable);
// Error environment when it does not answer or is older than Python 3.8.
[[nodiscard]] Result<PythonInfo> ask_python(ProcessRunner& runner, const std::string& interpreter);

} // namespace remotemac::daemon
