#include "sync/local_transport.h"

namespace remotemac::sync {

Result<std::unique_ptr<ByteStream>> LocalTransport::exec(const std::string& remote_command, const Deadline& deadline) {
  if (deadline.passed())
    return Error(ErrorCode::deadline, "no time was left to start a command on this machine");
  return spawn_stream({"/bin/sh", "-c", remote_command});
}

Result<ProcessResult> LocalTransport::run(const std::string& remote_command, std::string_view input, const Deadline& deadline,
                                          std::size_t max_output_bytes) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", remote_command};
  spec.input = std::string(input);
  spec.deadline = deadline.left();
  spec.max_output_bytes = max_output_bytes;
  return PosixProcessRunner().run(spec);
}

} // namespace remotemac::sync
