#include "daemon/connect.h"

#include "common/clock.h"
#include "common/file_system.h"
#include "common/text.h"
#include "daemon/file_lock.h"
#include "daemon/local_socket.h"
#include "daemon/spawn.h"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace remotemac::daemon {
namespace {
constexpr int k_look_again_ms = 20;

bool is_nonce(const std::string& text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// What the daemon wrote to its standard error since `from`: why it did not come up.
std::string last_words(FileSystem& disk, const StateDir& state, std::uint64_t from) {
  const Result<std::string> said = disk.read_range(state.standard_error(), from, 4096);
  return said ? clean_line(trim(*said), 500) : std::string();
}

// The daemon that this call started, if it did.
class Starter {
public:
  Starter(FileSystem& disk, const StateDir& state) : m_disk(disk), m_state(state) {}

  Result<void> start_once() {
    if (m_pid != -1)
      return ok();
    const Result<FileStat> errors = m_disk.stat(m_state.standard_error());
    m_from = errors ? errors->size_bytes : 0;
    RM_ASSIGN(const std::filesystem::path program, own_program());
    const std::vector<std::string> argv{program.string(), "serve", "--state-dir", m_state.root().string()};
    RM_ASSIGN(m_pid, spawn_detached(argv, m_state.root(), m_state.standard_error()));
    return ok();
  }
  [[nodiscard]] bool failed() {
    m_ended = m_ended || (m_pid != -1 && collect_if_ended(m_pid));
    return m_ended;
  }
  [[nodiscard]] Error reason(const std::string& what) {
    const std::string said = last_words(m_disk, m_state, m_from);
    return Error(ErrorCode::setup, what + (said.empty() ? "" : "; it said: " + said), "look at " + m_state.log().string() + " and " + m_state.standard_error().string() + " there");
  }

private:
  FileSystem& m_disk;
  const StateDir& m_state;
  pid_t m_pid = -1;
  std::uint64_t m_from = 0;
  bool m_ended = false;
};

// A daemon of another program file: of an older installation, or of a file that was replaced since it started.
bool runs_other_program(const UniqueFd& socket, pid_t& pid) {
  const std::optional<pid_t> peer = peer_process(socket.get());
  const Result<std::filesystem::path> own = own_program();
  std::error_code hidden;
  const std::filesystem::path theirs = peer ? std::filesystem::read_symlink("/proc/" + std::to_string(*peer) + "/exe", hidden) : std::filesystem::path();
  pid = peer.value_or(-1);
  return peer && own && !hidden && theirs != *own;
}

Result<UniqueFd> reach_daemon(FileSystem& disk, const StateDir& state, std::chrono::milliseconds limit) {
  const Deadline deadline(limit);
  Starter starter(disk, state);
  while (true) {
    RM_ASSIGN(UniqueFd socket, connect_in(state));
    if (socket && !peer_is_same_user(socket.get()))
      return Error(ErrorCode::setup, "the daemon's socket in " + state.root().string() + " belongs to another user");
    pid_t pid = -1;
    if (socket && !runs_other_program(socket, pid))
      return socket;
    // Jobs go on under their shims; ours takes over when the lock is free.
    if (socket)
      (void)::kill(pid, SIGTERM);
    // Two callers may both start one: the slower daemon finds the lock taken and ends, which is no failure.
    const bool served = FileLock::holder(state.lock()).has_value();
    if (!served && starter.failed())
      return starter.reason("the daemon ended at once");
    if (!served)
      RM_TRY(starter.start_once());
    if (deadline.passed())
      return starter.reason("the daemon did not answer within " + human_seconds(static_cast<double>(limit.count()) / 1000));
    ::poll(nullptr, 0, k_look_again_ms);
  }
}
} // namespace

Result<void> connect(const std::string& nonce, const std::filesystem::path& state_dir, const ConnectTimes& times) {
  if (!is_nonce(nonce))
    return Error(ErrorCode::usage, "--nonce must be 32 lower-case hex digits");
  (void)std::signal(SIGPIPE, SIG_IGN);
  PosixFileSystem disk;
  RM_ASSIGN(const StateDir state, StateDir::open(disk, state_dir));
  RM_ASSIGN(UniqueFd socket, reach_daemon(disk, state, times.start));
  const std::string line = "REMOTEMAC-READY " + nonce + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return Error(ErrorCode::connection, "the client is gone");
  return pump(STDIN_FILENO, STDOUT_FILENO, std::move(socket), times.drain);
}

} // namespace remotemac::daemon
