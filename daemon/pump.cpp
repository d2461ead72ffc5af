// The byte pump of `remotemacd connect`.
#include "common/clock.h"
#include "daemon/connect.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace remotemac::daemon {
namespace {
bool try_again(int number) { return number == EAGAIN || number == EINTR; }

// One direction with one buffer. When the reader's side breaks, the rest is of no use to anybody.
class Flow {
public:
  Flow(int from, int to) : m_from(from), m_to(to), m_buffer(std::size_t{256} << 10) {}

  [[nodiscard]] bool wants_read() const { return m_open && m_begin == m_end; }
  [[nodiscard]] bool wants_write() const { return m_open && m_begin != m_end; }
  [[nodiscard]] bool open() const { return m_open; }
  [[nodiscard]] int from() const { return m_from; }
  [[nodiscard]] int to() const { return m_to; }
  void end() { m_open = false; }

  void read() {
    const ssize_t got = ::read(m_from, m_buffer.data(), m_buffer.size());
    if (got > 0) {
      m_begin = 0;
      m_end = static_cast<std::size_t>(got);
      write(); // mostly there is room at once
    } else if (got == 0 || !try_again(errno)) {
      m_open = false;
    }
  }
  void write() {
    const ssize_t put = ::write(m_to, m_buffer.data() + m_begin, m_end - m_begin);
    if (put >= 0)
      m_begin += static_cast<std::size_t>(put);
    else if (!try_again(errno))
      m_open = false;
  }

private:
  int m_from;
  int m_to;
  std::vector<std::uint8_t> m_buffer;
  std::size_t m_begin = 0;
  std::size_t m_end = 0;
  bool m_open = true;
};

void run_ready(Flow& flow, const pollfd& source, const pollfd& sink) {
  if (flow.wants_write() && sink.revents != 0)
    flow.write();
  else if (flow.wants_read() && source.revents != 0)
    flow.read();
}
} // namespace

Result<void> pump(int in, int out, UniqueFd socket, std::chrono::milliseconds drain) {
  for (const int each : {in, out, socket.get()}) {
    if (::fcntl(each, F_SETFL, ::fcntl(each, F_GETFL) | O_NONBLOCK) < 0)
      return io_error("cannot prepare the streams", errno);
  }
  Flow up(in, socket.get());
  Flow down(socket.get(), out);
  std::optional<Deadline> end;
  while (down.open() && !(end && end->passed())) {
    // A descriptor that nothing is asked of is left out (-1), or its hang-up would make poll() return for ever.
    pollfd ready[4] = {{up.wants_read() ? up.from() : -1, POLLIN, 0},
                       {up.wants_write() ? up.to() : -1, POLLOUT, 0},
                       {down.wants_read() ? down.from() : -1, POLLIN, 0},
                       {down.wants_write() ? down.to() : -1, POLLOUT, 0}};
    if (::poll(ready, 4, end ? end->poll_ms() : -1) < 0 && errno != EINTR)
      return io_error("cannot wait for the streams", errno);
    run_ready(up, ready[0], ready[1]);
    run_ready(down, ready[2], ready[3]);
    if (!up.open() && !end) {
      // The client will send no more, or the daemon will read no more: what the daemon still says is passed on.
      ::shutdown(socket.get(), SHUT_WR);
      end.emplace(drain);
    }
  }
  return ok();
}

} // namespace remotemac::daemon
