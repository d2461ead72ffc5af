#include "common/byte_stream.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>

namespace remotemac {
namespace {
class FdStream final : public ByteStream {
public:
  FdStream(UniqueFd read_end, UniqueFd write_end) : m_read(std::move(read_end)), m_write(std::move(write_end)) {
    for (const int fd : {m_read.get(), m_write.get()})
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  }

  Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) override {
    while (true) {
      const ssize_t n = ::read(m_read.get(), into.data(), into.size());
      if (n >= 0)
        return static_cast<std::size_t>(n);
      if (errno == EINTR)
        continue;
      if (errno == ECONNRESET)
        return std::size_t{0};
      if (errno != EAGAIN)
        return Error(ErrorCode::connection, io_error("reading from the other side failed", errno).message());
      RM_TRY(wait(m_read.get(), POLLIN, deadline, "waiting for an answer"));
    }
  }

  Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(m_write.get(), bytes.data(), bytes.size());
      if (n > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        continue;
      }
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno != EAGAIN)
        return Error(ErrorCode::connection, io_error("the other side closed the connection while we were sending", errno).message());
      RM_TRY(wait(m_write.get(), POLLOUT, deadline, "sending"));
    }
    return ok();
  }

  void close() override {
    m_read.reset();
    m_write.reset();
  }

private:
  static Result<void> wait(int fd, short events, const Deadline& deadline, const char* what) {
    pollfd entry{fd, events, 0};
    const int n = ::poll(&entry, 1, deadline.poll_ms());
    if (n == 0)
      return Error(ErrorCode::deadline, std::string("the time for ") + what + " is over");
    if (n < 0 && errno != EINTR)
      return Error(ErrorCode::connection, io_error("poll failed", errno).message());
    return ok();
  }

  UniqueFd m_read;
  UniqueFd m_write;
};
} // namespace

std::unique_ptr<ByteStream> make_fd_stream(UniqueFd read_end, UniqueFd write_end) {
  return std::make_unique<FdStream>(std::move(read_end), std::move(write_end));
}

Result<void> read_exactly(ByteStream& stream, std::span<std::uint8_t> into, const Deadline& deadline) {
  while (!into.empty()) {
    RM_ASSIGN(const std::size_t n, stream.read_some(into, deadline));
    if (n == 0)
      return Error(ErrorCode::connection, "the connection ended in the middle of a message");
    into = into.subspan(n);
  }
  return ok();
}

} // namespace remotemac
