#include "daemon/processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include "common/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace remotemac::daemon {
namespace {
// The environment block is NUL-separated; the tag must be one whole entry.
bool holds_entry(std::string_view block, const std::string& entry) {
  for (std::size_t at = block.find(entry); at != std::string_view::npos; at = block.find(entry, at + 1)) {
    const std::size_t end = at + entry.size();
    if ((at == 0 || block[at - 1] == '\0') && (end == block.size() || block[end] == '\0'))
      return true;
  }
  return false;
}

#if defined(__linux__)
std::string read_proc(pid_t pid, const char* name) {
  const UniqueFd fd(::open(("/proc/" + std::to_string(pid) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  char buffer[8192];
  ssize_t n = 0;
  while (fd && out.size() < (std::size_t{4} << 20) && (n = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    out.append(buffer, static_cast<std::size_t>(n));
  return out;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc"), &::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    if (const long pid = std::strtol(entry->d_name, nullptr, 10); pid > 0)
      out.push_back(static_cast<pid_t>(pid));
  }
  return out;
}

// The fields of /proc/<pid>/stat after the name, which may itself hold spaces and brackets. Index 0 is field 3 (state).
std::vector<std::string> stat_fields(pid_t pid) {
  const std::string text = read_proc(pid, "stat");
  std::vector<std::string> out;
  std::size_t at = text.rfind(')');
  while (at != std::string::npos && at + 2 < text.size()) {
    const std::size_t end = std::min(text.find(' ', at + 2), text.size());
    out.push_back(text.substr(at + 2, end - at - 2));
    at = end - 1;
  }
  return out;
}

pid_t parent_of(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.size() > 1 ? static_cast<pid_t>(std::strtol(fields[1].c_str(), nullptr, 10)) : -1;
}
std::string environment_of(pid_t pid) { return read_proc(pid, "environ"); }
#elif defined(__APPLE__)
std::vector<kinfo_proc> process_table() {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_UID, static_cast<int>(::geteuid())};
  std::size_t size = 0;
  if (::sysctl(name, 4, nullptr, &size, nullptr, 0) != 0)
    return {};
  std::vector<kinfo_proc> out(size / sizeof(kinfo_proc) + 64);
  size = out.size() * sizeof(kinfo_proc);
  if (::sysctl(name, 4, out.data(), &size, nullptr, 0) != 0)
    return {};
  out.resize(size / sizeof(kinfo_proc));
  return out;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> out;
  for (const kinfo_proc& each : process_table())
    out.push_back(each.kp_proc.p_pid);
  return out;
}

std::optional<kinfo_proc> process_entry(pid_t pid) {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, pid};
  kinfo_proc info{};
  std::size_t size = sizeof info;
  if (::sysctl(name, 4, &info, &size, nullptr, 0) != 0 || size == 0)
    return std::nullopt;
  return info;
}

pid_t parent_of(pid_t pid) {
  const auto info = process_entry(pid);
  return info ? info->kp_eproc.e_ppid : -1;
}

// Holds the arguments too, which is fine: nobody is harmed by an argument that looks like the tag but the process that has it.
std::string environment_of(pid_t pid) {
  int name[] = {CTL_KERN, KERN_PROCARGS2, pid};
  std::size_t size = 0;
  if (::sysctl(name, 3, nullptr, &size, nullptr, 0) != 0)
    return {};
  std::string out(size, '\0');
  if (::sysctl(name, 3, out.data(), &size, nullptr, 0) != 0)
    return {};
  out.resize(size);
  return out;
}
#endif

void collect_dead() {
  int status = 0;
  while (::waitpid(-1, &status, WNOHANG) > 0) {
  }
}
} // namespace

std::vector<pid_t> tagged_processes(std::string_view job) {
  const std::string entry = std::string(k_job_tag) + "=" + std::string(job);
  std::vector<pid_t> out;
  for (const pid_t pid : all_processes()) {
    if (pid != ::getpid() && holds_entry(environment_of(pid), entry))
      out.push_back(pid);
  }
  return out;
}

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : all_processes())
    children.emplace(parent_of(pid), pid);
  std::vector<pid_t> out{root};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [first, last] = children.equal_range(out[i]);
    for (auto it = first; it != last; ++it)
      out.push_back(it->second);
  }
  out.erase(out.begin());
  return out;
}

std::size_t sweep_processes(std::string_view job, SweepScope scope, const Deadline& deadline) {
  std::set<pid_t> killed;
  while (true) {
    std::vector<pid_t> found = tagged_processes(job);
    if (scope == SweepScope::own_descendants_too) {
      collect_dead();
      const std::vector<pid_t> below = descendants(::getpid());
      found.insert(found.end(), below.begin(), below.end());
    }
    if (found.empty() || deadline.passed())
      return killed.size();
    for (const pid_t pid : found) {
      ::kill(pid, SIGKILL);
      killed.insert(pid);
    }
    ::poll(nullptr, 0, std::min(deadline.poll_ms(), 5)); // the kernel needs a moment to end them
  }
}

void become_reaper() {
#if defined(__linux__)
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

std::uint64_t process_start_time(pid_t pid) {
#if defined(__linux__)
  const auto fields = stat_fields(pid);
  return fields.size() > 19 ? std::strtoull(fields[19].c_str(), nullptr, 10) : 0;
#elif defined(__APPLE__)
  const auto info = process_entry(pid);
  return info ? static_cast<std::uint64_t>(info->kp_proc.p_starttime.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(info->kp_proc.p_starttime.tv_usec) : 0;
#else
  (void)pid;
  return 0;
#endif
}

} // namespace remotemac::daemon
