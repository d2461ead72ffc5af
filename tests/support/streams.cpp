#include "tests/support/streams.h"

#include "common/check.h"
#include "common/frame.h"
#include "common/zstd.h"

#include <sys/socket.h>

namespace remotemac::test {

std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> make_stream_pair() {
  int fds[2];
  RM_CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  // make_fd_stream owns both ends it is given, so each side needs a second descriptor.
  const auto side = [](int fd) {
    const int copy = ::dup(fd);
    RM_CHECK(copy >= 0);
    return make_fd_stream(UniqueFd(fd), UniqueFd(copy));
  };
  return {side(fds[0]), side(fds[1])};
}

Result<std::size_t> FlakyStream::read_some(std::span<std::uint8_t> into, const Deadline& deadline) {
  if (++m_calls >= m_fail_at) {
    m_inner->close();
    return Error(ErrorCode::connection, "injected failure of a read");
  }
  return m_inner->read_some(into, deadline);
}

Result<void> FlakyStream::write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) {
  ++m_calls;
  if (m_calls > m_fail_at)
    return Error(ErrorCode::connection, "injected failure of a write");
  if (m_calls < m_fail_at)
    return m_inner->write_all(bytes, deadline);
  const Result<void> half = m_inner->write_all(bytes.first(bytes.size() / 2), deadline);
  m_inner->close();
  return half ? Result<void>(Error(ErrorCode::connection, "injected failure of a write")) : half;
}

Result<void> RecordingStream::write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) {
  m_recording->insert(m_recording->end(), bytes.begin(), bytes.end());
  return m_inner->write_all(bytes, deadline);
}

std::string unpack_recording(const std::vector<std::uint8_t>& recording) {
  std::string out;
  std::span<const std::uint8_t> left(recording);
  while (left.size() >= 5) {
    const auto header = parse_frame_header(left.first<5>());
    RM_CHECK(header.has_value());
    if (left.size() - 5 < header->second)
      break;
    const std::span<const std::uint8_t> payload = left.subspan(5, header->second);
    if (header->first == FrameType::control || payload.empty()) {
      out.append(payload.begin(), payload.end());
    } else {
      const Result<std::vector<std::uint8_t>> plain = zstd_decompress(payload, k_manifest_max_unpacked_bytes);
      RM_CHECK(plain.has_value());
      out.append(plain->begin(), plain->end());
    }
    out += '\n';
    left = left.subspan(5 + header->second);
  }
  out.append(left.begin(), left.end());
  return out;
}

} // namespace remotemac::test
