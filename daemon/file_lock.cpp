#include "daemon/file_lock.h"

#include "common/text.h"

#include <cerrno>
#include <fcntl.h>

namespace remotemac::daemon {
namespace {
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}
} // namespace

Result<std::optional<FileLock>> FileLock::try_take(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd)
    return io_error("cannot open the lock file " + clean_line(file.string(), 500), errno);
  struct flock lock = whole_file();
  if (::fcntl(fd.get(), F_SETLK, &lock) == 0)
    return std::optional<FileLock>(FileLock(std::move(fd)));
  if (errno == EACCES || errno == EAGAIN)
    return std::optional<FileLock>();
  return io_error("cannot lock " + clean_line(file.string(), 500), errno);
}

std::optional<pid_t> FileLock::holder(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct flock lock = whole_file();
  if (!fd || ::fcntl(fd.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
    return std::nullopt;
  return lock.l_pid;
}

} // namespace remotemac::daemon
