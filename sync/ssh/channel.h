#pragma once
// One exec channel as the session's thread and the stream's user share it. Internal to sync/ssh. The buffers are bounded: a reader that
// does not read stops the far end through SSH's window, a writer waits while the line is slow.
#include "common/clock.h"
#include "common/result.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace remotemac::sync {

// A queue of bytes in one block. Not thread-safe.
class ByteQueue {
public:
  [[nodiscard]] std::size_t size() const { return m_bytes.size() - m_start; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const std::uint8_t* data() const { return m_bytes.data() + m_start; }
  void append(std::span<const std::uint8_t> bytes);
  void drop(std::size_t count);

private:
  std::vector<std::uint8_t> m_bytes;
  std::size_t m_start = 0;
};

struct Channel {
  static constexpr std::size_t k_in_max = std::size_t{4} << 20;
  static constexpr std::size_t k_out_max = std::size_t{2} << 20;

  std::string command;
  std::size_t messages_max = 32768;

  std::mutex mutex; // for everything below; `changed` tells both sides
  std::condition_variable changed;
  bool started = false;         // the host accepted the command
  bool ended = false;           // the host will send no more bytes
  bool finished = false;        // the exit status is known, or never will be
  bool close_wanted = false;    // the user is done with it
  bool input_complete = false;  // the user will write no more
  int exit_status = -1;
  std::optional<Error> failure;       // the channel or the session is gone
  std::optional<Error> write_failure; // the command stopped reading; what it wrote can still be read
  ByteQueue in;
  ByteQueue out;
  std::string messages; // standard error, raw
  bool messages_truncated = false;
};

} // namespace remotemac::sync
