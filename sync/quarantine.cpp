#include "sync/quarantine.h"

#include "common/digest.h"
#include "common/error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace remotemac::sync {

Result<Quarantine> Quarantine::create(const std::filesystem::path& into) {
  UniqueFd destination(::open(into.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!destination)
    return io_error("cannot open the folder " + into.string(), errno);
  std::string name = ".quarantine-" + random_hex(8);
  if (::mkdirat(destination.get(), name.c_str(), 0700) != 0)
    return io_error("cannot make a folder in " + into.string(), errno);
  UniqueFd folder(::openat(destination.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) {
    const int number = errno;
    ::unlinkat(destination.get(), name.c_str(), AT_REMOVEDIR);
    return io_error("cannot open the quarantine folder in " + into.string(), number);
  }
  return Quarantine(into, std::move(destination), std::move(name), std::move(folder));
}

Quarantine::~Quarantine() {
  if (!m_folder)
    return;
  m_file.reset();
  for (std::size_t i = 0; i < m_count; ++i)
    ::unlinkat(m_folder.get(), std::to_string(i).c_str(), 0);
  ::unlinkat(m_destination.get(), m_name.c_str(), AT_REMOVEDIR);
}

Result<std::uint64_t> Quarantine::free_bytes() const {
  struct statvfs numbers {};
  if (::fstatvfs(m_folder.get(), &numbers) != 0)
    return io_error("cannot ask for the free space of " + m_into.string(), errno);
  return static_cast<std::uint64_t>(numbers.f_bavail) * numbers.f_frsize;
}

Result<void> Quarantine::begin_file() {
  RM_TRY(end_file());
  m_file = UniqueFd(::openat(m_folder.get(), std::to_string(m_count).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!m_file)
    return io_error("cannot make a file in " + m_into.string(), errno);
  ++m_count;
  return ok();
}

Result<void> Quarantine::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(m_file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return io_error("cannot write to " + m_into.string(), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return ok();
}

Result<void> Quarantine::end_file() {
  if (m_file && ::fsync(m_file.get()) != 0)
    return io_error("cannot write to " + m_into.string(), errno);
  m_file.reset();
  return ok();
}

Result<UniqueFd> Quarantine::open_folder_of(const RelPath& name) const {
  UniqueFd at(::fcntl(m_destination.get(), F_DUPFD_CLOEXEC, 0));
  const std::vector<std::string> parts = name.parts();
  for (std::size_t i = 0; at && i + 1 < parts.size(); ++i) {
    if (::mkdirat(at.get(), parts[i].c_str(), 0700) != 0 && errno != EEXIST)
      return io_error("cannot make the folder of " + name.text() + " in " + m_into.string(), errno);
    at = UniqueFd(::openat(at.get(), parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!at)
    return io_error("cannot open the folder of " + name.text() + " in " + m_into.string() + " (a symbolic link is not followed)", errno);
  return at;
}

Result<void> Quarantine::publish(const std::vector<RelPath>& names) {
  RM_TRY(end_file());
  std::size_t moved = 0;
  Result<void> result = ok();
  for (; result && moved < names.size(); ++moved) {
    Result<UniqueFd> folder = open_folder_of(names[moved]);
    if (!folder)
      result = std::move(folder).error();
    else if (::renameat(m_folder.get(), std::to_string(moved).c_str(), folder->get(), names[moved].name().c_str()) != 0)
      result = io_error("cannot put " + names[moved].text() + " into place in " + m_into.string(), errno);
    if (!result)
      break;
  }
  if (result)
    return ok();
  for (std::size_t i = 0; i < moved; ++i) {
    if (const Result<UniqueFd> folder = open_folder_of(names[i]))
      ::unlinkat(folder->get(), names[i].name().c_str(), 0);
  }
  return result;
}

} // namespace remotemac::sync
