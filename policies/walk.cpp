#include "policies/walk.h"

#include "common/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace remotemac::policies {
namespace {
constexpr std::uint64_t k_most_entries = 2'000'000;
constexpr std::size_t k_deepest = 128;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

Result<std::vector<std::string>> names_in(int fd) {
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, CloseFolder> folder(own < 0 ? nullptr : ::fdopendir(own));
  if (!folder) {
    if (own >= 0)
      ::close(own);
    return io_error("cannot list a folder", errno);
  }
  std::vector<std::string> out;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      out.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0)
    return io_error("cannot list a folder", errno);
  std::sort(out.begin(), out.end());
  return out;
}

class Walker {
public:
  Walker(const Visit& visit, dev_t device) : m_visit(visit), m_device(device) {}

  Result<void> folder(int fd, const std::string& prefix, std::size_t depth) {
    if (depth > k_deepest)
      return Error(ErrorCode::project, "folders are nested deeper than " + std::to_string(k_deepest) + " at " + clean_line(prefix, 200), "move the project's files up, or leave that folder out of include");
    Result<std::vector<std::string>> names = names_in(fd);
    if (!names) {
      unreadable(prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1), names.error().message());
      return ok();
    }
    for (const std::string& name : *names) {
      if (++m_entries > k_most_entries)
        return Error(ErrorCode::project, "the project has more than " + std::to_string(k_most_entries) + " entries", "narrow include in remotemac.toml");
      RM_TRY(entry(fd, prefix, name, depth));
    }
    return ok();
  }

private:
  void unreadable(const std::string& path, const std::string& why) {
    WalkEntry out;
    out.path = path;
    out.kind = WalkKind::unreadable;
    out.note = why;
    m_visit(out);
  }

  Result<void> entry(int fd, const std::string& prefix, const std::string& name, std::size_t depth) {
    struct stat status {};
    WalkEntry out;
    out.path = prefix + name;
    if (::fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) // gone since the listing: nothing to judge
        unreadable(out.path, std::string("cannot look at it: ") + std::strerror(errno));
      return ok();
    }
    out.other_file_system = status.st_dev != m_device;
    if (S_ISDIR(status.st_mode))
      return enter(fd, out, name, depth);
    out.kind = S_ISREG(status.st_mode) ? WalkKind::file : S_ISLNK(status.st_mode) ? WalkKind::symlink : WalkKind::special;
    out.identity.device = status.st_dev;
    out.identity.inode = status.st_ino;
    out.identity.size_bytes = static_cast<std::uint64_t>(status.st_size);
    out.identity.modified_ns = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    out.identity.changed_ns = static_cast<std::int64_t>(status.st_ctim.tv_sec) * 1'000'000'000 + status.st_ctim.tv_nsec;
    out.identity.links = status.st_nlink;
    out.identity.executable = (status.st_mode & S_IXUSR) != 0;
    out.identity.regular = S_ISREG(status.st_mode);
    m_visit(out);
    return ok();
  }

  Result<void> enter(int fd, WalkEntry& out, const std::string& name, std::size_t depth) {
    out.kind = WalkKind::folder;
    if (!m_visit(out) || out.other_file_system)
      return ok();
    const UniqueFd inner(::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner) {
      unreadable(out.path, std::string("cannot open the folder: ") + std::strerror(errno));
      return ok();
    }
    return folder(inner.get(), out.path + "/", depth + 1);
  }

  const Visit& m_visit;
  dev_t m_device;
  std::uint64_t m_entries = 0;
};
} // namespace

Result<void> walk(int root, const Visit& visit) {
  struct stat status {};
  if (::fstat(root, &status) != 0)
    return io_error("cannot look at the project folder", errno);
  return Walker(visit, status.st_dev).folder(root, "", 0);
}

} // namespace remotemac::policies
