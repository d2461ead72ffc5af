#include "daemon/job_stop.h"

#include "common/fd.h"

#include <algorithm>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace remotemac::daemon {
namespace {
constexpr int k_max_depth = 200; // each level holds a descriptor

std::uint64_t bytes_below(UniqueFd folder, int depth) {
  const int fd = folder.release();
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fd), &::closedir);
  std::uint64_t sum = 0;
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    struct stat info {};
    if (name == "." || name == ".." || ::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    sum += static_cast<std::uint64_t>(info.st_blocks) * 512;
    if (S_ISDIR(info.st_mode) && depth < k_max_depth) {
      UniqueFd below(::openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below)
        sum += bytes_below(std::move(below), depth + 1);
    }
  }
  return sum;
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&set, number);
  return set;
}

bool stop_signal_pending() {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGHUP) == 1;
}
} // namespace

std::uint64_t tree_bytes(const std::filesystem::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return fd ? bytes_below(std::move(fd), 0) : 0;
}

void block_stop_signals() {
  const sigset_t set = stop_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void JobStop::begin(std::chrono::seconds limit, Watch watch) {
  m_step_end = Clock::now() + limit;
  m_next_disk_check = watch == Watch::clocks_and_disk ? Clock::now() : Clock::time_point::max();
}

bool JobStop::cancelled() const { return ::access(m_cancel_file.c_str(), F_OK) == 0 || stop_signal_pending(); }

// A large tree takes long to add up, so it is looked at seldom: the watching must not slow down what is being timed.
bool JobStop::disk_over() {
  const auto began = Clock::now();
  if (began < m_next_disk_check)
    return false;
  const bool over = tree_bytes(m_disk.folder) > m_disk.max_bytes;
  m_next_disk_check = began + std::max<Clock::duration>(m_disk.interval, 50 * (Clock::now() - began));
  return over;
}

std::optional<StopCause> JobStop::check() {
  if (cancelled())
    return StopCause::cancelled;
  const auto now = Clock::now();
  if (now >= m_job_end)
    return StopCause::job_wall;
  if (now >= m_step_end)
    return StopCause::step_wall;
  return disk_over() ? std::optional(StopCause::disk) : std::nullopt;
}

} // namespace remotemac::daemon
