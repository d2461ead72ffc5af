#include "daemon/network_guard.h"

#include <cerrno>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include "common/fd.h"

#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#endif

namespace remotemac::daemon {
namespace {
#if defined(__linux__)
bool write_proc(const char* file, const std::string& text) {
  const UniqueFd fd(::open(file, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// With a user namespace first: then even root has no way back into the network of the host.
int enter_namespace() {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
    write_proc("/proc/self/setgroups", "deny");
    if (!write_proc("/proc/self/uid_map", user + " " + user + " 1") || !write_proc("/proc/self/gid_map", group + " " + group + " 1"))
      return EPERM;
    return 0;
  }
  return ::unshare(CLONE_NEWNET) == 0 ? 0 : errno;
}

int enter_seccomp() {
  const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr)
    return ENOMEM;
  // Not a list of bad families but one good one: a family that appears later is refused too.
  int status = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));
  if (status == 0)
    status = ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(io_uring_setup), 0);
  if (status == 0)
    status = ::seccomp_load(filter);
  ::seccomp_release(filter);
  return -status;
}
#endif

// In the probing child: can anything be reached? A refused connection means that a network was there.
bool network_is_unreachable() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0)
    return true;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return !connected && errno != ECONNREFUSED;
}

int status_of_child(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}
} // namespace

std::string_view guard_name(NetworkGuard guard) {
  switch (guard) {
  case NetworkGuard::name_space: return "namespace";
  case NetworkGuard::seccomp: return "seccomp";
  case NetworkGuard::sandbox: return "sandbox";
  case NetworkGuard::none: return "none";
  }
  return "none";
}

int enter_network_guard(NetworkGuard guard) {
#if defined(__linux__)
  if (guard == NetworkGuard::none)
    return 0;
  int status = guard == NetworkGuard::name_space ? enter_namespace() : 0;
  // No set-user-id program may give back what was taken away.
  if (status == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    status = errno;
  if (status == 0 && guard == NetworkGuard::seccomp)
    status = enter_seccomp();
  return guard == NetworkGuard::sandbox ? ENOSYS : status;
#else
  return guard == NetworkGuard::none || guard == NetworkGuard::sandbox ? 0 : ENOSYS;
#endif
}

std::string sandbox_profile(const std::filesystem::path& folder) {
  std::string quoted;
  for (const char c : folder.string()) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  // Sockets of the system's own name service would still carry questions out, so only the job's own folder is open.
  return "(version 1)(allow default)(deny network*)(allow network* (subpath \"" + quoted + "\"))";
}

std::vector<std::string> guarded_command(NetworkGuard guard, const std::vector<std::string>& argv, const std::filesystem::path& folder) {
  if (guard != NetworkGuard::sandbox)
    return argv;
  std::vector<std::string> out{"/usr/bin/sandbox-exec", "-p", sandbox_profile(folder)};
  out.insert(out.end(), argv.begin(), argv.end());
  return out;
}

bool guard_works(NetworkGuard guard) {
  const pid_t pid = ::fork();
  if (pid < 0)
    return false;
  if (pid == 0) {
    if (guard == NetworkGuard::sandbox) {
      const std::string profile = sandbox_profile("/var/empty");
      ::execl("/usr/bin/sandbox-exec", "sandbox-exec", "-p", profile.c_str(), "/usr/bin/true", static_cast<char*>(nullptr));
      ::_exit(1);
    }
    ::_exit(enter_network_guard(guard) == 0 && network_is_unreachable() ? 0 : 1);
  }
  const int status = status_of_child(pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

NetworkGuard find_network_guard() {
#if defined(__linux__)
  for (const NetworkGuard guard : {NetworkGuard::name_space, NetworkGuard::seccomp}) {
    if (guard_works(guard))
      return guard;
  }
#elif defined(__APPLE__)
  if (guard_works(NetworkGuard::sandbox))
    return NetworkGuard::sandbox;
#endif
  return NetworkGuard::none;
}

} // namespace remotemac::daemon
