#include "common/process_runner.h"

#include "common/byte_stream.h"
#include "common/fd.h"
#include "common/pipe.h"
#include "common/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): macOS declares it in no header

namespace remotemac {
namespace {
struct Child {
  pid_t pid = -1;
  UniqueFd in;
  UniqueFd out;
  UniqueFd err;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<Child> start(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                    const std::optional<std::map<std::string, std::string>>& environment) {
  if (argv.empty())
    return Error(ErrorCode::internal, "an empty command cannot be run");
  RM_ASSIGN(Pipe in, make_pipe());
  RM_ASSIGN(Pipe out, make_pipe());
  RM_ASSIGN(Pipe err, make_pipe());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::unique_ptr<posix_spawn_file_actions_t, int (*)(posix_spawn_file_actions_t*)> free_actions(&actions, &posix_spawn_file_actions_destroy);
  posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
  if (!folder.empty())
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const std::unique_ptr<posix_spawnattr_t, int (*)(posix_spawnattr_t*)> free_attributes(&attributes, &posix_spawnattr_destroy);
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP})
    sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> variables;
  if (environment) {
    for (const auto& [name, value] : *environment)
      variables.emplace_back(name).append("=").append(value);
  }
  std::vector<char*> environment_pointers = pointers(variables);
  Child child;
  const int status = ::posix_spawnp(&child.pid, argv[0].c_str(), &actions, &attributes, pointers(argv).data(),
                                    environment ? environment_pointers.data() : environ);
  if (status != 0)
    return Error(ErrorCode::process, "cannot start '" + clean_line(argv[0], 200) + "': " + std::strerror(status));
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

void take(std::string& into, const char* bytes, std::size_t n, std::size_t max_bytes, bool& truncated) {
  const std::size_t room = max_bytes > into.size() ? max_bytes - into.size() : 0;
  into.append(bytes, std::min(n, room));
  truncated = truncated || n > room;
}

// Reaps without ever blocking longer than the deadline; kills the whole group when it passes.
Result<int> reap(pid_t pid, const Deadline& deadline) {
  int status = 0;
  while (true) {
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid)
      return status;
    if (got < 0 && errno != EINTR)
      return io_error("cannot wait for a helper program", errno);
    if (deadline.passed()) {
      ::kill(-pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return Error(ErrorCode::deadline, "it took too long and was stopped");
    }
    pollfd nothing{-1, 0, 0};
    ::poll(&nothing, 1, std::min(deadline.poll_ms(), 5));
  }
}

class ChildStream final : public ByteStream {
public:
  explicit ChildStream(Child child) : m_pid(child.pid), m_err(std::move(child.err)), m_stream(make_fd_stream(std::move(child.out), std::move(child.in))) {
    ::fcntl(m_err.get(), F_SETFL, O_NONBLOCK);
  }
  ~ChildStream() override { ChildStream::close(); }

  Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) override {
    drain();
    auto result = m_stream->read_some(into, deadline);
    drain();
    return result;
  }
  Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) override {
    drain();
    return m_stream->write_all(bytes, deadline);
  }
  std::string side_messages() override {
    drain();
    return clean_text(m_messages);
  }
  void close() override {
    if (m_pid < 0)
      return;
    m_stream->close();
    if (const auto ended = reap_quietly(std::chrono::milliseconds(2000)); !ended) {
      ::kill(-m_pid, SIGTERM);
      if (!reap_quietly(std::chrono::milliseconds(2000))) {
        ::kill(-m_pid, SIGKILL);
        int status = 0;
        ::waitpid(m_pid, &status, 0);
      }
    }
    m_pid = -1;
  }

private:
  bool reap_quietly(std::chrono::milliseconds limit) {
    const Deadline deadline(limit);
    int status = 0;
    while (true) {
      if (::waitpid(m_pid, &status, WNOHANG) != 0)
        return true;
      if (deadline.passed())
        return false;
      drain();
      pollfd nothing{-1, 0, 0};
      ::poll(&nothing, 1, 5);
    }
  }
  void drain() {
    char buffer[4096];
    ssize_t n = 0;
    bool truncated = false;
    while (m_err && (n = ::read(m_err.get(), buffer, sizeof buffer)) > 0)
      take(m_messages, buffer, static_cast<std::size_t>(n), 32768, truncated);
  }

  pid_t m_pid;
  UniqueFd m_err;
  std::string m_messages;
  std::unique_ptr<ByteStream> m_stream;
};
} // namespace

Result<ProcessResult> PosixProcessRunner::run(const ProcessSpec& spec) {
  const Deadline deadline(spec.deadline);
  const auto began = std::chrono::steady_clock::now();
  RM_ASSIGN(Child child, start(spec.argv, spec.folder, spec.environment));
  for (const int fd : {child.in.get(), child.out.get(), child.err.get()})
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  ProcessResult result;
  std::string_view input = spec.input;
  if (input.empty())
    child.in.reset();
  char buffer[65536];
  while (child.out || child.err) {
    pollfd fds[3] = {{child.in.get(), POLLOUT, 0}, {child.out.get(), POLLIN, 0}, {child.err.get(), POLLIN, 0}};
    if (deadline.passed())
      break;
    ::poll(fds, 3, deadline.poll_ms());
    if (child.in && (fds[0].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
      const ssize_t n = ::write(child.in.get(), input.data(), input.size());
      if (n > 0)
        input.remove_prefix(static_cast<std::size_t>(n));
      if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR))
        child.in.reset();
    }
    const auto drain = [&](UniqueFd& fd, std::string& into) {
      const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
      if (n > 0)
        take(into, buffer, static_cast<std::size_t>(n), spec.max_output_bytes, result.truncated);
      else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        fd.reset();
    };
    if (child.out && fds[1].revents != 0)
      drain(child.out, result.out);
    if (child.err && fds[2].revents != 0)
      drain(child.err, result.err);
  }
  RM_ASSIGN_WHILE("running '" + clean_line(spec.argv[0], 200) + "'", const int status, reap(child.pid, deadline));
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

Result<std::unique_ptr<ByteStream>> spawn_stream(const std::vector<std::string>& argv) {
  RM_ASSIGN(Child child, start(argv, {}, std::nullopt));
  return std::unique_ptr<ByteStream>(std::make_unique<ChildStream>(std::move(child)));
}

} // namespace remotemac
