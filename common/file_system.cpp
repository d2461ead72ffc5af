#include "common/file_system.h"

#include "common/fd.h"
#include "common/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/fs.h>
#elif defined(__APPLE__)
#include <sys/clonefile.h>
#endif

namespace remotemac {
namespace {
namespace fs = std::filesystem;

Error fail(const char* what, const fs::path& path, int error_number) {
  return io_error(std::string(what) + " " + clean_line(path.string(), 500), error_number);
}

Result<UniqueFd> open_at(const fs::path& path, int flags, int mode, const char* what) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd)
    return fail(what, path, errno);
  return fd;
}

Result<void> write_whole(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail("cannot write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return ok();
}

Result<void> sync_fd(int fd, const fs::path& path) {
#if defined(__APPLE__)
  if (::fcntl(fd, F_FULLFSYNC) == 0)
    return ok();
#endif
  if (::fsync(fd) != 0)
    return fail("cannot flush", path, errno);
  return ok();
}

Result<void> sync_folder(const fs::path& folder) {
  RM_ASSIGN(const UniqueFd fd, open_at(folder, O_RDONLY | O_DIRECTORY, 0, "cannot open the folder"));
  return sync_fd(fd.get(), folder);
}

Result<std::string> read_fd(int fd, const fs::path& path, std::size_t max_bytes) {
  std::string out;
  char buffer[65536];
  while (out.size() < max_bytes) {
    const ssize_t n = ::read(fd, buffer, std::min(sizeof buffer, max_bytes - out.size()));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail("cannot read", path, errno);
    if (n == 0)
      break;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}

EntryKind kind_of(mode_t mode) {
  if (S_ISREG(mode))
    return EntryKind::file;
  if (S_ISDIR(mode))
    return EntryKind::directory;
  return S_ISLNK(mode) ? EntryKind::symlink : EntryKind::other;
}

// Removes name below the open folder without following links, so a hostile tree cannot lead outside.
Result<void> remove_at(int folder, const std::string& name, const fs::path& path) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? ok() : Result<void>(fail("cannot look at", path, errno));
  if (!S_ISDIR(info.st_mode)) {
    if (::unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT)
      return fail("cannot remove", path, errno);
    return ok();
  }
  if ((info.st_mode & S_IRWXU) != S_IRWXU && ::fchmodat(folder, name.c_str(), S_IRWXU, 0) != 0)
    return fail("cannot make the folder writable", path, errno);
  UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd)
    return fail("cannot open the folder", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(::dup(fd.get())), &::closedir);
  if (!dir)
    return fail("cannot list", path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string each = entry->d_name;
    if (each != "." && each != "..")
      names.push_back(each);
  }
  for (const std::string& each : names)
    RM_TRY(remove_at(fd.get(), each, path / each));
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return fail("cannot remove the folder", path, errno);
  return ok();
}

Result<void> copy_bytes(int from, int to, const fs::path& path) {
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail("cannot read", path, errno);
    if (n == 0)
      return ok();
    RM_TRY(write_whole(to, std::string_view(buffer, static_cast<std::size_t>(n)), path));
  }
}
} // namespace

Result<std::string> PosixFileSystem::read_file(const fs::path& path, std::uint64_t max_bytes) {
  RM_ASSIGN(const UniqueFd fd, open_at(path, O_RDONLY, 0, "cannot open"));
  RM_ASSIGN(std::string out, read_fd(fd.get(), path, static_cast<std::size_t>(max_bytes) + 1));
  if (out.size() > max_bytes)
    return Error(ErrorCode::io, clean_line(path.string(), 500) + " is larger than " + human_bytes(max_bytes));
  return out;
}

Result<std::string> PosixFileSystem::read_range(const fs::path& path, std::uint64_t offset, std::size_t max_bytes) {
  RM_ASSIGN(const UniqueFd fd, open_at(path, O_RDONLY | O_NOFOLLOW, 0, "cannot open"));
  if (::lseek(fd.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
    return fail("cannot seek in", path, errno);
  return read_fd(fd.get(), path, max_bytes);
}

Result<void> PosixFileSystem::write_atomic(const fs::path& path, std::string_view content, int mode) {
  std::string temp = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  UniqueFd fd(::mkostemp(temp.data(), O_CLOEXEC));
  if (!fd)
    return fail("cannot create a temporary file for", path, errno);
  Result<void> written = write_whole(fd.get(), content, path);
  if (written && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0)
    written = fail("cannot set the mode of", path, errno);
  if (written)
    written = sync_fd(fd.get(), path);
  if (written && ::rename(temp.c_str(), path.c_str()) != 0)
    written = fail("cannot put in place", path, errno);
  if (!written) {
    ::unlink(temp.c_str());
    return written;
  }
  return sync_folder(path.parent_path());
}

Result<void> PosixFileSystem::write_unsynced(const fs::path& path, std::string_view content, int mode) {
  std::string temp = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  UniqueFd fd(::mkostemp(temp.data(), O_CLOEXEC));
  if (!fd)
    return fail("cannot create a temporary file for", path, errno);
  Result<void> written = write_whole(fd.get(), content, path);
  if (written && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0)
    written = fail("cannot set the mode of", path, errno);
  if (written && ::rename(temp.c_str(), path.c_str()) != 0)
    written = fail("cannot put in place", path, errno);
  if (!written)
    ::unlink(temp.c_str());
  return written;
}

Result<void> PosixFileSystem::sync_all(const fs::path& path) {
  RM_ASSIGN(const UniqueFd fd, open_at(path, O_RDONLY, 0, "cannot open"));
#if defined(__linux__)
  if (::syncfs(fd.get()) != 0)
    return fail("cannot flush the file system of", path, errno);
  return ok();
#else
  ::sync();
  return sync_fd(fd.get(), path);
#endif
}

Result<void> PosixFileSystem::append(const fs::path& path, std::string_view content) {
  RM_ASSIGN(const UniqueFd fd, open_at(path, O_WRONLY | O_APPEND | O_CREAT, 0600, "cannot open for appending"));
  return write_whole(fd.get(), content, path);
}

Result<void> PosixFileSystem::append_synced(const fs::path& path, std::string_view content) {
  RM_ASSIGN(const UniqueFd fd, open_at(path, O_WRONLY | O_APPEND | O_CREAT, 0600, "cannot open for appending"));
  RM_TRY(write_whole(fd.get(), content, path));
  return sync_fd(fd.get(), path);
}

Result<FileStat> PosixFileSystem::stat(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0)
    return fail("cannot look at", path, errno);
  #if defined(__APPLE__)
  const std::int64_t modified_s = info.st_mtimespec.tv_sec;
#else
  const std::int64_t modified_s = info.st_mtim.tv_sec;
#endif
  return FileStat{kind_of(info.st_mode), static_cast<std::uint64_t>(info.st_size), (info.st_mode & S_IXUSR) != 0, modified_s};
}

bool PosixFileSystem::exists(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Result<std::vector<DirEntry>> PosixFileSystem::list(const fs::path& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), &::closedir);
  if (!dir)
    return fail("cannot list", path, errno);
  std::vector<DirEntry> out;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..")
      continue;
    struct stat info {};
    if (::fstatat(::dirfd(dir.get()), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return fail("cannot look at", path / name, errno);
    out.push_back({name, kind_of(info.st_mode)});
  }
  std::sort(out.begin(), out.end(), [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return out;
}

Result<void> PosixFileSystem::make_dirs(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) == 0)
    return ok();
  struct stat info {};
  if (errno == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return ok();
  if (errno == ENOENT && path.has_parent_path() && path.parent_path() != path) {
    RM_TRY(make_dirs(path.parent_path()));
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
      return ok();
  }
  return fail("cannot make the folder", path, errno);
}

Result<void> PosixFileSystem::rename(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return fail("cannot move to", to, errno);
  return sync_folder(to.parent_path());
}

Result<void> PosixFileSystem::remove_tree(const fs::path& path) {
  UniqueFd parent(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent)
    return errno == ENOENT ? ok() : Result<void>(fail("cannot open the folder of", path, errno));
  return remove_at(parent.get(), path.filename().string(), path);
}

Result<void> PosixFileSystem::clone_file(const fs::path& from, const fs::path& to, int mode) {
#if defined(__APPLE__)
  if (::clonefile(from.c_str(), to.c_str(), CLONE_NOFOLLOW) == 0)
    return set_mode(to, mode);
#endif
  RM_ASSIGN(const UniqueFd in, open_at(from, O_RDONLY | O_NOFOLLOW, 0, "cannot open"));
  RM_ASSIGN(const UniqueFd out, open_at(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, "cannot create"));
#if defined(__linux__)
  if (::ioctl(out.get(), FICLONE, in.get()) != 0)
#endif
    RM_TRY(copy_bytes(in.get(), out.get(), to));
  if (::fchmod(out.get(), static_cast<mode_t>(mode)) != 0)
    return fail("cannot set the mode of", to, errno);
  return ok();
}

Result<void> PosixFileSystem::set_mode(const fs::path& path, int mode) {
  if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0)
    return fail("cannot set the mode of", path, errno);
  return ok();
}

Result<std::uint64_t> PosixFileSystem::free_bytes(const fs::path& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0)
    return fail("cannot ask for the free space at", path, errno);
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

} // namespace remotemac
