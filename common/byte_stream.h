#pragma once
// A connected pair of byte directions with deadlines: an SSH channel, a child process, a socket. Blocking calls; one thread at a time.
#include "common/clock.h"
#include "common/fd.h"
#include "common/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace remotemac {

class ByteStream {
public:
  virtual ~ByteStream() = default;
  // At least one byte, or 0 at the end of the stream, or error deadline / connection / interrupted.
  [[nodiscard]] virtual Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) = 0;
  [[nodiscard]] virtual Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) = 0;
  // What the far side said on its error channel so far (cleaned, capped); for error messages.
  [[nodiscard]] virtual std::string side_messages() { return {}; }
  virtual void close() = 0;
};

// Over two descriptors (may be the same one). Owns them. Puts them into non-blocking mode.
[[nodiscard]] std::unique_ptr<ByteStream> make_fd_stream(UniqueFd read_end, UniqueFd write_end);
// Reads exactly into.size() bytes; error connection when the stream ends before.
[[nodiscard]] Result<void> read_exactly(ByteStream& stream, std::span<std::uint8_t> into, const Deadline& deadline);

} // namespace remotemac
