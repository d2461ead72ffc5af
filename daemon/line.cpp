#include "daemon/line.h"

#include <array>

namespace remotemac::daemon {
namespace {
constexpr std::size_t k_piece_bytes = std::size_t{256} << 10; // must move within the stall limit
constexpr auto k_await = asio::as_tuple(asio::use_awaitable);
} // namespace

// Shared with the watchdog's handler, which may run after the line is gone.
struct Line::State : std::enable_shared_from_this<Line::State> {
  State(asio::local::stream_protocol::socket from, const asio::any_io_executor& executor) : socket(std::move(from)), watchdog(executor) {}

  void arm(std::chrono::milliseconds limit) {
    const std::uint64_t mine = ++round;
    watchdog.expires_after(limit);
    watchdog.async_wait([weak = weak_from_this(), mine](const boost::system::error_code& error) {
      const std::shared_ptr<State> self = weak.lock();
      if (error || !self || self->round != mine)
        return;
      self->late = true;
      self->end();
    });
  }
  void disarm() {
    ++round;
    watchdog.cancel();
  }
  void end() {
    boost::system::error_code ignored;
    socket.close(ignored);
  }

  asio::local::stream_protocol::socket socket;
  asio::steady_timer watchdog;
  std::uint64_t round = 0;
  bool late = false;
};

Line::Line(asio::local::stream_protocol::socket socket, const LineTimes& times) : m_times(times) {
  const asio::any_io_executor executor = socket.get_executor();
  m_state = std::make_shared<State>(std::move(socket), executor);
}

Line::~Line() {
  m_state->disarm();
  m_state->end();
}

void Line::close() { m_state->end(); }

Error Line::broken(const boost::system::error_code& error) const {
  if (m_state->late)
    return Error(ErrorCode::deadline, "the client did not move on in time");
  return Error(ErrorCode::connection, "the connection broke: " + error.message());
}

Task<std::size_t> Line::read_piece(asio::mutable_buffer into, std::chrono::milliseconds limit) {
  m_state->arm(limit);
  const auto [error, count] = co_await asio::async_read(m_state->socket, into, k_await);
  m_state->disarm();
  if (error && error != asio::error::eof)
    co_return broken(error);
  co_return count;
}

Task<std::optional<Frame>> Line::read_frame(Expect expect) {
  std::array<std::uint8_t, 5> header{};
  const std::chrono::milliseconds patience = expect == Expect::next_request ? m_times.idle : m_times.stall;
  // The first byte may take long, the rest of a frame may not.
  RM_CO_ASSIGN(const std::size_t first, co_await read_piece(asio::buffer(header.data(), 1), patience));
  if (first == 0)
    co_return std::optional<Frame>();
  RM_CO_ASSIGN(const std::size_t rest, co_await read_piece(asio::buffer(header.data() + 1, 4), m_times.stall));
  if (rest != 4)
    co_return Error(ErrorCode::connection, "the connection ended inside a frame");
  RM_CO_ASSIGN(const auto parsed, parse_frame_header(header));
  Frame frame;
  frame.type = parsed.first;
  while (frame.payload.size() < parsed.second) {
    const std::size_t at = frame.payload.size();
    const std::size_t piece = std::min(k_piece_bytes, parsed.second - at);
    frame.payload.resize(at + piece); // grows with what really comes, not with what was announced
    RM_CO_ASSIGN(const std::size_t got, co_await read_piece(asio::buffer(frame.payload.data() + at, piece), m_times.stall));
    if (got != piece)
      co_return Error(ErrorCode::connection, "the connection ended inside a frame");
  }
  co_return std::optional<Frame>(std::move(frame));
}

Task<void> Line::write_bytes(const std::uint8_t* bytes, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    const std::size_t piece = std::min(k_piece_bytes, size - at);
    m_state->arm(m_times.stall);
    const auto [error, count] = co_await asio::async_write(m_state->socket, asio::buffer(bytes + at, piece), k_await);
    m_state->disarm();
    if (error)
      co_return broken(error);
    at += count;
  }
  co_return ok();
}

Task<void> Line::write_frame(FrameType type, std::string_view payload) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size());
  const std::vector<std::uint8_t> frame = encode_frame(type, bytes);
  co_return co_await write_bytes(frame.data(), frame.size());
}

} // namespace remotemac::daemon
