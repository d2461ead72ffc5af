#include "policies/file_reader.h"

#include "common/text.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace remotemac::policies {
namespace {
std::int64_t nanoseconds(const timespec& time) { return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec; }

// O_NONBLOCK: a FIFO that took a file's place must not hold us.
constexpr int k_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

// Where the kernel or a sandbox has no openat2: part by part, each relative to the folder that is already open.
Result<UniqueFd> open_by_parts(int root, const std::string& path) {
  UniqueFd folder(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  const std::vector<std::string> parts = split(path, '/');
  struct stat top {};
  if (!folder || ::fstat(root, &top) != 0)
    return io_error("cannot open " + clean_line(path), errno);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    UniqueFd next(::openat(folder.get(), parts[i].c_str(), last ? k_flags : O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY));
    struct stat here {};
    if (!next || ::fstat(next.get(), &here) != 0)
      return io_error("cannot open " + clean_line(path), errno);
    if (here.st_dev != top.st_dev)
      return io_error("cannot open " + clean_line(path), EXDEV);
    folder = std::move(next);
  }
  return folder;
}
} // namespace

Result<UniqueFd> open_root(const std::filesystem::path& root) {
  UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd)
    return io_error("cannot open the project folder " + clean_line(root.string()), errno);
  return fd;
}

Result<UniqueFd> open_below(int root, const std::string& path) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(k_flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  if (fd)
    return fd;
  if (errno == ENOSYS || errno == EPERM)
    return open_by_parts(root, path);
  return io_error("cannot open " + clean_line(path), errno);
}

Result<FileIdentity> identity_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return io_error("cannot look at a file", errno);
  FileIdentity out;
  out.device = status.st_dev;
  out.inode = status.st_ino;
  out.size_bytes = static_cast<std::uint64_t>(status.st_size);
  out.modified_ns = nanoseconds(status.st_mtim);
  out.changed_ns = nanoseconds(status.st_ctim);
  out.links = status.st_nlink;
  out.executable = (status.st_mode & S_IXUSR) != 0;
  out.regular = S_ISREG(status.st_mode);
  return out;
}

Result<std::vector<std::uint8_t>> read_whole(int fd, const FileIdentity& expected) {
  RM_ASSIGN(const FileIdentity before, identity_of(fd));
  const Error changed(ErrorCode::changed, "the file changed while it was read", "let writers finish, then run the command again");
  if (before != expected)
    return changed;
  std::vector<std::uint8_t> out(expected.size_bytes + 1); // one more shows growth
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t got = ::pread(fd, out.data() + have, out.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return io_error("cannot read a file", errno);
    if (got == 0)
      break;
    have += static_cast<std::size_t>(got);
  }
  RM_ASSIGN(const FileIdentity after, identity_of(fd));
  if (have != expected.size_bytes || after != before)
    return changed;
  out.resize(have);
  return out;
}

} // namespace remotemac::policies
