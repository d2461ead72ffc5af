#include "daemon/child.h"

#include "common/clock.h"
#include "common/pipe.h"
#include "common/text.h"
#include "daemon/processes.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace remotemac::daemon {
namespace {
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds k_tick{100};
constexpr std::chrono::seconds k_exec_deadline{60};
constexpr std::chrono::seconds k_sweep_deadline{10};
constexpr std::chrono::seconds k_drain_deadline{5};

// What stopped the child between fork and exec; written through a pipe that exec closes.
struct StartFailure {
  int stage = 0; // index into k_stages
  int error_number = 0;
};
constexpr const char* k_stages[] = {"make a session", "cut off the network", "enter its folder", "set up its streams", "start the program"};

struct Prepared {
  std::vector<std::string> texts; // keeps the pointers alive
  std::vector<char*> argv;
  std::vector<char*> environment;
};

Prepared prepare(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment) {
  Prepared out;
  out.texts = argv;
  for (const auto& [name, value] : environment)
    out.texts.emplace_back(name).append("=").append(value);
  for (std::size_t i = 0; i < out.texts.size(); ++i)
    (i < argv.size() ? out.argv : out.environment).push_back(out.texts[i].data());
  out.argv.push_back(nullptr);
  out.environment.push_back(nullptr);
  return out;
}

// A library may have opened files without close-on-exec; a job inherits its three streams and nothing else.
void close_all_on_exec() {
  struct rlimit limit {};
  const rlim_t most = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min<rlim_t>(limit.rlim_cur, 4096) : 1024;
  for (int fd = 3; fd < static_cast<int>(most); ++fd)
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void default_signals() {
  for (int signal = 1; signal < 32; ++signal)
    ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void die_with(pid_t parent) {
#if defined(__linux__)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
  if (::getppid() != parent)
    ::_exit(127);
}

[[noreturn]] void become(const ChildSpec& spec, Prepared& prepared, pid_t parent, int out, int err, int report) {
  StartFailure failure;
  const auto check = [&](int stage, bool good) {
    if (good)
      return;
    failure = StartFailure{stage, errno};
    (void)!::write(report, &failure, sizeof failure);
    ::_exit(127);
  };
  check(0, ::setsid() > 0);
  close_all_on_exec();
  const struct rlimit no_core {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::umask(077);
  errno = enter_network_guard(spec.network);
  check(1, errno == 0);
  check(2, ::chdir(spec.folder.c_str()) == 0);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  check(3, nothing >= 0 && ::dup2(nothing, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2);
  die_with(parent); // after the guard: changing credentials clears it
  default_signals();
  ::execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
  check(4, false);
  ::_exit(127);
}

// Waits until the child has become its program.
Result<void> await_start(int report, const std::string& program) {
  StartFailure failure;
  pollfd entry{report, POLLIN, 0};
  const Deadline deadline(k_exec_deadline);
  while (::poll(&entry, 1, deadline.poll_ms()) < 0 && errno == EINTR) {
  }
  if (entry.revents == 0)
    return Error(ErrorCode::deadline, "'" + clean_line(program, 300) + "' did not start within a minute");
  ssize_t n = 0;
  while ((n = ::read(report, &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (n != static_cast<ssize_t>(sizeof failure))
    return ok();
  return Error(ErrorCode::process, "cannot start '" + clean_line(program, 300) + "': could not " + k_stages[failure.stage] + ": " + std::strerror(failure.error_number));
}

UniqueFd watch_process(pid_t pid) {
#if defined(__linux__) && defined(SYS_pidfd_open)
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#else
  (void)pid;
  return UniqueFd();
#endif
}

class Running {
public:
  Running(pid_t pid, UniqueFd out, UniqueFd err, const ChildSpec& spec) : m_pid(pid), m_out(std::move(out)), m_err(std::move(err)), m_exit(watch_process(pid)), m_spec(spec) {
    for (const int fd : {m_out.get(), m_err.get()})
      ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }

  // True when the process has ended.
  bool wait(std::chrono::milliseconds limit, ChildEnd& end) {
    pollfd fds[3] = {{m_out.get(), POLLIN, 0}, {m_err.get(), POLLIN, 0}, {m_exit.get(), POLLIN, 0}};
    ::poll(fds, 3, static_cast<int>(limit.count()));
    drain(m_out, *m_spec.out);
    drain(m_err, *m_spec.err);
    return collect(end);
  }

  // After the end: whatever is still in the pipes.
  void drain_rest() {
    const Deadline deadline(k_drain_deadline);
    while ((m_out || m_err) && !deadline.passed()) {
      pollfd fds[2] = {{m_out.get(), POLLIN, 0}, {m_err.get(), POLLIN, 0}};
      ::poll(fds, 2, deadline.poll_ms());
      drain(m_out, *m_spec.out);
      drain(m_err, *m_spec.err);
    }
  }

  void signal_group(int number) const { ::kill(-m_pid, number); }

private:
  // At most some rounds, so that a flood on one stream keeps nobody waiting.
  void drain(UniqueFd& fd, CappedLog& log) {
    for (int round = 0; fd && round < 16; ++round) {
      const ssize_t n = ::read(fd.get(), m_buffer.data(), m_buffer.size());
      if (n > 0)
        log.write(std::span(m_buffer).first(static_cast<std::size_t>(n)));
      else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        fd.reset();
      if (n <= 0)
        return;
    }
  }

  bool collect(ChildEnd& end) const {
    int status = 0;
    struct rusage usage {};
    const pid_t got = ::wait4(m_pid, &status, WNOHANG, &usage);
    if (got == 0 || (got < 0 && errno == EINTR))
      return false;
    if (got < 0) // how it ended is not known, which must not read as "exit 0"
      return true;
    if (WIFEXITED(status))
      end.exit_code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
      end.signal = WTERMSIG(status);
#if defined(__APPLE__)
    end.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss);
#else
    end.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
#endif
    return true;
  }

  pid_t m_pid;
  UniqueFd m_out;
  UniqueFd m_err;
  UniqueFd m_exit;
  const ChildSpec& m_spec;
  std::array<std::uint8_t, 65536> m_buffer{};
};

// Which signal is due now, given when the ladder began.
class LadderClimber {
public:
  LadderClimber(const StopLadder& ladder, StopCause cause) : m_ladder(ladder), m_rung(cause == StopCause::disk ? 2 : 0) {}
  void climb(const Running& child) {
    constexpr int signals[] = {SIGINT, SIGTERM, SIGKILL};
    while (m_rung < 3 && Clock::now() >= m_next) {
      child.signal_group(signals[m_rung]);
      m_next = Clock::now() + (m_rung == 0 ? m_ladder.interrupt_grace : m_ladder.terminate_grace);
      ++m_rung;
    }
  }

private:
  StopLadder m_ladder;
  int m_rung;
  Clock::time_point m_next = Clock::now();
};
} // namespace

Result<ChildEnd> PosixChildRunner::run(const ChildSpec& spec, StopSource& stop) {
  RM_ASSIGN(Pipe out, make_pipe());
  RM_ASSIGN(Pipe err, make_pipe());
  RM_ASSIGN(Pipe report, make_pipe());
  Prepared prepared = prepare(guarded_command(spec.network, spec.argv, spec.folder.parent_path()), spec.environment);
  const auto began = Clock::now();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    return io_error("cannot make a process", errno);
  if (pid == 0)
    become(spec, prepared, parent, out.write.get(), err.write.get(), report.write.get());
  for (UniqueFd* each : {&out.write, &err.write, &report.write})
    each->reset();
  const Result<void> started = await_start(report.read.get(), spec.argv.at(0));
  Running child(pid, std::move(out.read), std::move(err.read), spec);
  ChildEnd end;
  std::optional<LadderClimber> ladder;
  if (!started)
    child.signal_group(SIGKILL), ::kill(pid, SIGKILL);
  auto next_check = began;
  while (!child.wait(k_tick, end)) {
    if (!ladder && Clock::now() >= next_check) { // a flood of output wakes us far more often than a check is worth
      next_check = Clock::now() + k_tick;
      end.stopped = stop.check();
      if (end.stopped)
        ladder.emplace(m_ladder, *end.stopped);
    }
    if (ladder)
      ladder->climb(child);
  }
  child.signal_group(SIGKILL);
  (void)sweep_processes(m_job, SweepScope::own_descendants_too, Deadline(k_sweep_deadline));
  child.drain_rest();
  if (!started)
    return started.error();
  end.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  return end;
}

} // namespace remotemac::daemon
