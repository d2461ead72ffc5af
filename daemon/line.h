#pragma once
// One connection's bytes as frames, with a deadline on every wait: a watchdog closes the socket when it passes. For one coroutine at a
// time, on the thread of the io_context. Errors: connection, deadline, protocol; after any of them the line is dead.
#include "common/asio.h"
#include "common/frame.h"

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace remotemac::daemon {

struct LineTimes {
  std::chrono::milliseconds idle{std::chrono::minutes(15)};  // between two requests; a client that waits for a job asks far more often
  std::chrono::milliseconds stall{std::chrono::seconds(60)}; // until hello, and without progress inside a request or an answer
};

class Line {
public:
  enum class Expect { first_request, next_request, rest_of_request };

  Line(asio::local::stream_protocol::socket socket, const LineTimes& times);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // nullopt when the peer ended cleanly between two frames.
  [[nodiscard]] Task<std::optional<Frame>> read_frame(Expect expect);
  [[nodiscard]] Task<void> write_frame(FrameType type, std::string_view payload);
  void close();

private:
  struct State;
  [[nodiscard]] Task<std::size_t> read_piece(asio::mutable_buffer into, std::chrono::milliseconds limit);
  [[nodiscard]] Task<void> write_bytes(const std::uint8_t* bytes, std::size_t size);
  [[nodiscard]] Error broken(const boost::system::error_code& error) const;
  std::shared_ptr<State> m_state;
  LineTimes m_times;
};

} // namespace remotemac::daemon
