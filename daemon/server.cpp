#include "daemon/server.h"

#include "common/log.h"
#include "common/text.h"
#include "common/version.h"
#include "daemon/engine.h"
#include "daemon/file_lock.h"
#include "daemon/host_facts.h"
#include "daemon/local_socket.h"
#include "daemon/session.h"
#include "daemon/shim_host.h"
#include "daemon/spawn.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <set>

namespace remotemac::daemon {
namespace {
constexpr std::size_t k_max_connections = 64;
constexpr std::chrono::milliseconds k_accept_again{100};
constexpr auto k_await = asio::as_tuple(asio::use_awaitable);

class Server {
public:
  Server(DaemonParts& parts, const ServerTimes& times) : m_times(times), m_engine(parts), m_acceptor(m_engine.io), m_signals(m_engine.io, SIGTERM, SIGINT) {}

  Result<void> run(UniqueFd socket) {
    boost::system::error_code error;
    m_acceptor.assign(asio::local::stream_protocol(), socket.release(), error);
    if (error)
      return Error(ErrorCode::io, "cannot use the daemon's socket: " + error.message());
    m_signals.async_wait([this](const boost::system::error_code& failed, int) {
      if (!failed)
        stop();
    });
    // These loops never end. An exception is a defect of ours, and a daemon without one of them would look well and do nothing:
    // it ends instead, and the next `connect` starts another, which finds the jobs again.
    const auto ended = [this](const std::exception_ptr& failure) {
      m_defect = failure;
      stop();
    };
    asio::co_spawn(m_engine.io, accept(), ended);
    asio::co_spawn(m_engine.io, look_at_jobs(), ended);
    asio::co_spawn(m_engine.io, sweep(), ended);
    m_engine.io.run();
    // What was begun on the disk is finished; nothing new comes.
    m_engine.join_pools();
    if (m_defect)
      std::rethrow_exception(m_defect); // to app.cpp, which says it in serve.err
    return ok();
  }

private:
  void stop() { m_engine.io.stop(); }

  asio::awaitable<void> accept() {
    asio::steady_timer pause(m_engine.io);
    while (true) {
      if (m_sessions.size() >= k_max_connections) {
        make_room();
        pause.expires_after(k_accept_again);
        co_await pause.async_wait(asio::use_awaitable);
        continue;
      }
      auto [error, socket] = co_await m_acceptor.async_accept(k_await);
      if (error) { // too many open files, say: it passes
        log_event(LogLevel::error, "server", "not-accepted", {{"error", error.message()}});
        pause.expires_after(k_accept_again);
        co_await pause.async_wait(asio::use_awaitable);
        continue;
      }
      if (!peer_is_same_user(socket.native_handle())) {
        log_event(LogLevel::warn, "server", "other-user-refused");
        continue;
      }
      asio::awaitable<void> session = talk(std::move(socket));
      asio::co_spawn(m_engine.io, std::move(session), asio::detached);
    }
  }

  // The client that has asked nothing for the longest time is the likeliest to be gone; one that lives connects again.
  void make_room() {
    const auto idle = [](const Session* each) { return each->idle_since().value_or(std::chrono::steady_clock::time_point::max()); };
    const auto longest = std::min_element(m_sessions.begin(), m_sessions.end(), [&](const Session* a, const Session* b) { return idle(a) < idle(b); });
    if (longest == m_sessions.end() || !(*longest)->idle_since())
      return;
    log_event(LogLevel::warn, "server", "idle-client-dropped", {{"connections", std::to_string(m_sessions.size())}});
    (*longest)->hang_up();
  }

  asio::awaitable<void> talk(asio::local::stream_protocol::socket socket) {
    Session session(m_engine, std::move(socket), m_times.line, [this] { stop(); });
    m_sessions.insert(&session);
    co_await session.run();
    m_sessions.erase(&session);
  }

  asio::awaitable<void> look_at_jobs() {
    bool busy = true;
    const std::function<void()> look = [this, &busy] {
      m_engine.parts.supervisor.tick();
      busy = m_engine.parts.supervisor.busy();
    };
    while (true) {
      m_engine.tick.expires_after(busy ? m_times.tick : m_times.idle_tick);
      co_await m_engine.tick.async_wait(k_await); // cancelled: look at once
      co_await run_on(m_engine.jobs, look);
    }
  }

  asio::awaitable<void> sweep() {
    asio::steady_timer timer(m_engine.io);
    const std::set<std::string> none;
    while (true) {
      const auto next = co_await sweep_everything(m_engine, none);
      if (!next)
        log_event(LogLevel::error, "jobs", "not-swept", {{"error", next.error().chain()}});
      std::chrono::milliseconds wait = m_times.sweep;
      if (next && *next) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(**next - m_engine.parts.clock.now());
        wait = std::clamp(left, std::chrono::milliseconds(1000), wait);
      }
      timer.expires_after(wait);
      co_await timer.async_wait(asio::use_awaitable);
    }
  }

  ServerTimes m_times;
  std::set<Session*> m_sessions; // in the frames of talk(), which go with the io_context
  Engine m_engine;
  asio::local::stream_protocol::acceptor m_acceptor;
  asio::signal_set m_signals;
  std::exception_ptr m_defect;
};
} // namespace

Result<void> serve_parts(DaemonParts& parts, UniqueFd socket, const ServerTimes& times) {
  Server server(parts, times);
  return server.run(std::move(socket));
}

Result<void> serve(const std::filesystem::path& state_dir, const ServerTimes& times) {
  PosixFileSystem disk;
  const SystemClock clock;
  PosixProcessRunner runner;
  RM_ASSIGN(const StateDir state, StateDir::open(disk, state_dir));
  RM_ASSIGN(const std::optional<FileLock> lock, FileLock::try_take(state.lock()));
  if (!lock)
    return Error(ErrorCode::setup, "another daemon serves " + clean_line(state.root().string(), 300) + " already");
  RM_TRY(open_log(state.log(), LogLevel::info));
  RM_ASSIGN(const std::filesystem::path program, own_program());
  (void)std::signal(SIGPIPE, SIG_IGN);
  PosixShimHost shims(program);
  // Filled in place and in order: the later parts refer to the earlier ones.
  DaemonParts parts{disk,
                    clock,
                    runner,
                    state,
                    program,
                    BlobStore(disk, state.blobs()),
                    SnapshotStore(disk, parts.blobs, state.snapshots()),
                    JobStore(disk, clock, state.jobs(), boot_id()),
                    Supervisor(disk, parts.jobs, shims, clock, boot_id()),
                    {}};
  RM_TRY_WHILE("cleaning up the snapshots", parts.snapshots.clean_up());
  RM_TRY_WHILE("finding the jobs again", parts.supervisor.recover());
  RM_ASSIGN(UniqueFd socket, listen_in(state));
  log_event(LogLevel::info, "server", "started", {{"version", k_version}});
  const Result<void> done = serve_parts(parts, std::move(socket), times);
  log_event(LogLevel::info, "server", "stopped");
  return done;
}

} // namespace remotemac::daemon
