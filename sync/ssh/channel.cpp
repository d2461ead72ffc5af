#include "sync/ssh/channel.h"

namespace remotemac::sync {

void ByteQueue::append(std::span<const std::uint8_t> bytes) {
  if (empty()) {
    m_bytes.clear();
    m_start = 0;
  } else if (m_start > size()) { // moving the rest costs less than what was dropped since
    m_bytes.erase(m_bytes.begin(), m_bytes.begin() + static_cast<std::ptrdiff_t>(m_start));
    m_start = 0;
  }
  m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

void ByteQueue::drop(std::size_t count) { m_start += count; }

} // namespace remotemac::sync
