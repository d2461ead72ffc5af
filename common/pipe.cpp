#include "common/pipe.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace remotemac {

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe(fds) != 0)
    return io_error("cannot make a pipe", errno);
  for (const int fd : fds)
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

} // namespace remotemac
