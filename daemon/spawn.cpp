#include "daemon/spawn.h"

#include "common/text.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

extern char** environ;

namespace remotemac::daemon {
namespace {
void quiet_streams(posix_spawn_file_actions_t& actions, const std::filesystem::path& error_file) {
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, error_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
#if defined(__linux__)
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
}

void own_session(posix_spawnattr_t& attributes) {
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  short flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(__APPLE__)
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  posix_spawnattr_setflags(&attributes, flags);
}
} // namespace

Result<pid_t> spawn_detached(const std::vector<std::string>& argv, const std::filesystem::path& folder, const std::filesystem::path& error_file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::unique_ptr<posix_spawn_file_actions_t, int (*)(posix_spawn_file_actions_t*)> free_actions(&actions, &posix_spawn_file_actions_destroy);
  quiet_streams(actions, error_file);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const std::unique_ptr<posix_spawnattr_t, int (*)(posix_spawnattr_t*)> free_attributes(&attributes, &posix_spawnattr_destroy);
  own_session(attributes);
  std::vector<char*> pointers;
  for (const std::string& each : argv)
    pointers.push_back(const_cast<char*>(each.c_str()));
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int status = ::posix_spawn(&pid, argv.at(0).c_str(), &actions, &attributes, pointers.data(), environ);
  if (status != 0)
    return Error(ErrorCode::process, "cannot start '" + clean_line(argv[0], 300) + "': " + std::strerror(status));
  return pid;
}

bool collect_if_ended(pid_t pid) {
  int status = 0;
  const pid_t got = ::waitpid(pid, &status, WNOHANG);
  return got == pid || (got < 0 && errno == ECHILD);
}

Result<std::filesystem::path> own_program() {
#if defined(__APPLE__)
  char buffer[4096];
  std::uint32_t size = sizeof buffer;
  if (::_NSGetExecutablePath(buffer, &size) != 0)
    return Error(ErrorCode::internal, "cannot find the path of this program");
  const std::filesystem::path found(buffer);
#else
  const std::filesystem::path found("/proc/self/exe");
#endif
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(found, error);
  if (error)
    return Error(ErrorCode::process, "cannot find the path of this program: " + error.message());
  return real;
}

} // namespace remotemac::daemon
