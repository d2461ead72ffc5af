#include "daemon/capped_log.h"

#include "common/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace remotemac::daemon {
namespace {
constexpr std::size_t k_tail_bytes = 16384;
}

Result<CappedLog> CappedLog::open(const std::filesystem::path& file, std::uint64_t max_bytes) {
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return io_error("cannot open the log " + clean_line(file.filename().string(), 200), errno);
  return CappedLog(std::move(fd), static_cast<std::uint64_t>(info.st_size), max_bytes);
}

// How many bytes really reached the file.
std::size_t CappedLog::put(std::span<const std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(m_fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    done += static_cast<std::size_t>(n);
  }
  m_file_bytes += done;
  return done;
}

void CappedLog::mark(std::string_view why) {
  const std::string line = "\n[remotemac: " + std::string(why) + "; what followed was dropped]\n";
  (void)put(std::span(reinterpret_cast<const std::uint8_t*>(line.data()), line.size()));
}

void CappedLog::write(std::span<const std::uint8_t> bytes) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), m_room));
  const std::size_t written = m_room == 0 ? 0 : put(bytes.first(wanted));
  const auto last = bytes.last(std::min(bytes.size(), k_tail_bytes));
  if (m_tail.size() + last.size() > 4 * k_tail_bytes)
    m_tail.erase(0, m_tail.size() - std::min(m_tail.size(), k_tail_bytes));
  m_tail.append(last.begin(), last.end());
  const bool first_drop = m_dropped == 0 && written < bytes.size();
  m_room -= written;
  m_dropped += bytes.size() - written;
  if (written < wanted)
    m_room = 0; // a disk that is full once gives a log with one hole at its end, not many inside
  if (first_drop)
    mark(written < wanted ? std::string("the log could not be written any further") : "this stream passed its limit of " + human_bytes(m_max));
}

void CappedLog::write(std::string_view text) { write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())); }

std::string_view CappedLog::tail() const {
  const std::string_view all = m_tail;
  return all.substr(all.size() - std::min(all.size(), k_tail_bytes));
}

void CappedLog::flush() { ::fsync(m_fd.get()); }

} // namespace remotemac::daemon
