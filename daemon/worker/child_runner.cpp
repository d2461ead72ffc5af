#include "daemon/worker/child_runner.h"

#include "common/clock.h"
#include "common/fd.h"
#include "common/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

extern char** environ; // NOLINT: POSIX leaves its declaration to the program

namespace remotemac::worker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t k_tail_bytes = 4096;
constexpr int k_look_ms = 20;
// Loading libtorch, and on a Mac the first compilation of shaders, takes its time before the first line is written.
constexpr std::chrono::milliseconds k_start_allowance{60'000};

std::vector<std::string> changed_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string entry = *each;
    if (!changes.contains(entry.substr(0, entry.find('='))))
      result.push_back(entry);
  }
  for (const auto& [name, value] : changes)
    if (!value.empty())
      result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words)
    result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Only calls that are allowed between fork and exec.
[[noreturn]] void become(const char* program, char* const* argv, char* const* environment, int error_fd, [[maybe_unused]] pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(125);
#endif
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(error_fd, STDERR_FILENO);
  execve(program, argv, environment);
  _exit(127);
}

class Child {
public:
  Child(pid_t pid, UniqueFd errors) : m_pid(pid), m_errors(std::move(errors)) {}
  ~Child() {
    if (m_status)
      return;
    kill(m_pid, SIGKILL);
    wait_for_end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reads what there is, for at most k_look_ms. False once the child has ended and its last words are read.
  bool look() {
    pollfd poll_fd{m_errors.get(), POLLIN, 0};
    if (poll(&poll_fd, m_errors ? 1 : 0, k_look_ms) > 0)
      read_some();
    int status = 0;
    if (!m_status && waitpid(m_pid, &status, WNOHANG) == m_pid)
      m_status = status;
    if (!m_status)
      return true;
    while (m_errors && read_some()) {
    }
    return false;
  }
  void end() {
    kill(m_pid, SIGKILL);
    wait_for_end();
    while (m_errors && read_some()) {
    }
  }
  [[nodiscard]] int status() const { return m_status.value_or(0); }
  [[nodiscard]] const std::string& tail() const { return m_tail; }

private:
  void wait_for_end() {
    int status = 0;
    while (!m_status)
      if (waitpid(m_pid, &status, 0) == m_pid || errno != EINTR)
        m_status = status;
  }
  bool read_some() {
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(m_errors.get(), buffer.data(), buffer.size());
    if (count > 0) {
      m_tail.append(buffer.data(), static_cast<std::size_t>(count));
      if (m_tail.size() > k_tail_bytes)
        m_tail.erase(0, m_tail.size() - k_tail_bytes);
      return true;
    }
    if (count == 0 || (errno != EINTR && errno != EAGAIN))
      m_errors.reset();
    return false;
  }
  pid_t m_pid;
  UniqueFd m_errors;
  std::optional<int> m_status;
  std::string m_tail;
};

off_t size_of(const std::filesystem::path& file) {
  struct stat status{};
  return stat(file.c_str(), &status) == 0 ? status.st_size : 0;
}

// Follows the child to its end or to a deadline.
EndOfChild follow(Child& child, const ChildSpec& spec) {
  const auto start = Clock::now();
  const off_t at_start = size_of(spec.journal);
  off_t seen = at_start;
  auto progress = start;
  while (child.look()) {
    const auto now = Clock::now();
    if (const off_t size = size_of(spec.journal); size != seen) {
      seen = size;
      progress = now;
    }
    const auto limit = seen == at_start ? std::max(spec.quiet_limit, k_start_allowance) : spec.quiet_limit;
    if (now - progress > limit) {
      child.end();
      return EndOfChild::quiet_limit;
    }
    if (now - start > spec.total_limit) {
      child.end();
      return EndOfChild::total_limit;
    }
  }
  return WIFSIGNALED(child.status()) ? EndOfChild::signalled : EndOfChild::exited;
}

} // namespace

Result<std::filesystem::path> this_program() {
#ifdef __APPLE__
  std::array<char, PATH_MAX> buffer;
  std::uint32_t size = buffer.size();
  if (_NSGetExecutablePath(buffer.data(), &size) != 0)
    return Error(ErrorCode::process, "cannot tell where this program lies");
  return std::filesystem::path(buffer.data());
#else
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed)
    return Error(ErrorCode::process, "cannot tell where this program lies: " + failed.message());
  return path;
#endif
}

std::string signal_name(int signal) {
  switch (signal) {
  case SIGABRT:
    return "SIGABRT";
  case SIGSEGV:
    return "SIGSEGV";
  case SIGBUS:
    return "SIGBUS";
  case SIGILL:
    return "SIGILL";
  case SIGFPE:
    return "SIGFPE";
  case SIGKILL:
    return "SIGKILL";
  case SIGTERM:
    return "SIGTERM";
  case SIGTRAP:
    return "SIGTRAP";
  default:
    return "signal " + std::to_string(signal);
  }
}

Result<ChildResult> run_child(const ChildSpec& spec) {
  RM_ASSIGN(const std::filesystem::path program, this_program());
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    return io_error("cannot make a pipe for a child process", errno);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  fcntl(read_end.get(), F_SETFD, FD_CLOEXEC);
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  fcntl(write_end.get(), F_SETFD, FD_CLOEXEC);
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  std::vector<std::string> variables = changed_environment(spec.environment);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const auto start = Clock::now();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return io_error("cannot start a child process", errno);
  if (pid == 0)
    become(program.c_str(), argv.data(), environment.data(), write_end.get(), parent);
  write_end.reset();
  Child child(pid, std::move(read_end));
  ChildResult result;
  result.end = follow(child, spec);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.exit_code = WIFEXITED(child.status()) ? WEXITSTATUS(child.status()) : -1;
  result.signal = WIFSIGNALED(child.status()) ? WTERMSIG(child.status()) : 0;
  result.stderr_tail = clean_text(child.tail());
  return result;
}

} // namespace remotemac::worker
