#pragma once
// How commands are run on a host: over SSH (sync/ssh), or as child processes on host `local`. Not for files as such: those travel as
// frames of docs/protocol.md over a stream that exec() gives. Blocking; a Transport may be used from several threads, a stream by one
// at a time. Destroying the transport ends its streams.
#include "common/byte_stream.h"
#include "common/process_runner.h"

#include <memory>
#include <string>
#include <string_view>

namespace remotemac::sync {

class Transport {
public:
  virtual ~Transport() = default;
  // Starts the command under the login shell of the host; its standard input and output are the stream, its standard error is collected
  // for side_messages(). The caller quotes (shell_quote). The deadline covers the start only.
  [[nodiscard]] virtual Result<std::unique_ptr<ByteStream>> exec(const std::string& remote_command, const Deadline& deadline) = 0;
  // Runs a command to its end with `input` on its standard input. A non-zero exit is a result, not an error; exit_code -1 = ended by a
  // signal. At most max_output_bytes of each stream are kept. out and err are raw bytes of the far end: clean them before showing.
  [[nodiscard]] virtual Result<ProcessResult> run(const std::string& remote_command, std::string_view input, const Deadline& deadline,
                                                  std::size_t max_output_bytes) = 0;
  // For people: "me@mini1.example.org port 22", "this machine".
  [[nodiscard]] virtual std::string describe() const = 0;
};

} // namespace remotemac::sync
