#pragma once
// Running a helper program to its end, as a dependency. Not for jobs (daemon/shim does those) and not for interactive programs.
// Blocking; safe from several threads. The child gets its own process group, which is killed when the deadline passes.
#include "common/clock.h"
#include "common/result.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace remotemac {

struct ProcessSpec {
  std::vector<std::string> argv; // argv[0] is looked up in PATH unless it has a '/'
  std::filesystem::path folder;  // empty: ours
  std::optional<std::map<std::string, std::string>> environment; // nullopt: ours
  std::string input;                                             // fed to standard input, then closed
  std::chrono::milliseconds deadline{60'000};
  std::size_t max_output_bytes = std::size_t{16} << 20; // of each stream; more is drained and dropped
};

struct ProcessResult {
  int exit_code = -1; // -1 when ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
  bool truncated = false;
  double seconds = 0;
};

class ProcessRunner {
public:
  virtual ~ProcessRunner() = default;
  // Error process when it could not be started, deadline when it was killed for taking too long. A non-zero exit is a result.
  [[nodiscard]] virtual Result<ProcessResult> run(const ProcessSpec& spec) = 0;
};

class PosixProcessRunner final : public ProcessRunner {
public:
  [[nodiscard]] Result<ProcessResult> run(const ProcessSpec& spec) override;
};

// Starts a long-lived child with a ByteStream over its standard streams; standard error is collected (cleaned, <= 32 KiB) for
// side_messages(). Closing or destroying the stream ends the child (SIGTERM, then SIGKILL after 2 s).
class ByteStream;
[[nodiscard]] Result<std::unique_ptr<ByteStream>> spawn_stream(const std::vector<std::string>& argv);

} // namespace remotemac
