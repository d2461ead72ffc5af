#include "sync/buffered_stream.h"

#include <algorithm>
#include <cstring>

namespace remotemac::sync {

Result<std::size_t> BufferedStream::read_some(std::span<std::uint8_t> into, const Deadline& deadline) {
  if (m_start == m_end && into.size() >= m_buffer.size())
    return m_inner->read_some(into, deadline);
  if (m_start == m_end) {
    m_start = m_end = 0;
    RM_ASSIGN(m_end, m_inner->read_some(m_buffer, deadline));
  }
  const std::size_t size = std::min(into.size(), m_end - m_start);
  std::memcpy(into.data(), m_buffer.data() + m_start, size);
  m_start += size;
  return size;
}

void BufferedStream::give_back(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> joined(bytes.begin(), bytes.end());
  joined.insert(joined.end(), m_buffer.begin() + static_cast<std::ptrdiff_t>(m_start), m_buffer.begin() + static_cast<std::ptrdiff_t>(m_end));
  m_start = 0;
  m_end = joined.size();
  joined.resize(std::max(joined.size(), m_buffer.size()));
  m_buffer = std::move(joined);
}

bool BufferedStream::has_input() {
  if (m_start != m_end)
    return true;
  m_start = m_end = 0;
  const Result<std::size_t> got = m_inner->read_some(m_buffer, Deadline(std::chrono::milliseconds(0)));
  if (!got)
    return got.error().code() != ErrorCode::deadline;
  m_end = *got;
  return true;
}

} // namespace remotemac::sync
