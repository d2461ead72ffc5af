#pragma once
// A POSIX record lock on a whole file, held as long as the object lives and dropped by the kernel when the process dies: the one
// proof of life that no reused process id can forge. One process must not open the locked file a second time (closing that
// descriptor would drop the lock); asking from another process is holder().
#include "common/fd.h"
#include "common/result.h"

#include <filesystem>
#include <optional>
#include <sys/types.h>

namespace remotemac::daemon {

class FileLock {
public:
  // nullopt when another process holds it. Creates the file (mode 0600). Does not wait.
  [[nodiscard]] static Result<std::optional<FileLock>> try_take(const std::filesystem::path& file);
  // The process that holds the lock; nullopt when nobody does or the file does not exist. Does not see locks of this process.
  [[nodiscard]] static std::optional<pid_t> holder(const std::filesystem::path& file);

private:
  explicit FileLock(UniqueFd fd) : m_fd(std::move(fd)) {}
  UniqueFd m_fd;
};

} // namespace remotemac::daemon
