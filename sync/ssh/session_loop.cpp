#include "sync/ssh/session_loop.h"

#include "common/log.h"
#include "common/text.h"

#include <libssh/server.h> // ssh_send_keepalive

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <poll.h>

namespace remotemac::sync {
namespace {
constexpr std::chrono::seconds k_patience{60}; // for the agent, beyond the connect timeout

// libssh may call this from inside any of its calls, not only from the loop's own wait: hence the flag.
int drain_wake(socket_t fd, int /*events*/, void* woken) {
  *static_cast<bool*>(woken) = true;
  std::array<char, 64> bytes{};
  while (::read(fd, bytes.data(), bytes.size()) > 0) {
  }
  return 0;
}
} // namespace

SessionLoop::SessionLoop(std::string destination, const SshOptions& options, Until until)
    : m_destination(std::move(destination)), m_options(options), m_until(until), m_scratch(k_write_bytes) {
  if (options.ask)
    m_options.ask = [this, ask = options.ask](const std::string& question, Echo echo) {
      m_asking = true;
      std::optional<std::string> answer = ask(question, echo);
      m_asking = false;
      return answer;
    };
}

Result<std::shared_ptr<SessionLoop>> SessionLoop::start(const std::string& destination, const SshOptions& options, Until until) {
  int fds[2];
  if (::pipe(fds) != 0)
    return io_error("cannot make a pipe", errno);
  const std::shared_ptr<SessionLoop> loop(new SessionLoop(destination, options, until));
  loop->m_wake_read = UniqueFd(fds[0]);
  loop->m_wake_write = UniqueFd(fds[1]);
  for (const int fd : fds) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  loop->m_thread = std::thread([loop] { loop->run(); });
  if (Result<void> started = loop->await_start(); !started) {
    loop->stop();
    return std::move(started).error();
  }
  return loop;
}

// Two calls on the thread cannot be cut short: the system's name lookup, and libssh talking to the user's agent. When one of them
// hangs, the caller still gets its answer in time, and the thread, which then owns itself, ends when the call does.
Result<void> SessionLoop::await_start() {
  const auto limit = 2 * m_options.connect_timeout + k_patience;
  Deadline deadline(limit);
  std::unique_lock lock(m_mutex);
  while (!m_established && !m_failure) {
    m_changed.wait_for(lock, std::chrono::milliseconds(200));
    if (m_asking)
      deadline = Deadline(limit);
    if (!deadline.passed() || m_established || m_failure)
      continue;
    m_stop = true;
    m_thread.detach();
    return Error(ErrorCode::deadline, "the login at '" + m_destination + "' did not finish", "is the ssh-agent waiting for a confirmation? try: ssh-add -l");
  }
  if (m_failure)
    return *m_failure;
  return ok();
}

void SessionLoop::stop() {
  m_stop = true;
  wake();
  if (m_thread.joinable())
    m_thread.join();
}

void SessionLoop::wake() {
  const char byte = 1;
  // A full pipe is fine: then the thread has been told already.
  [[maybe_unused]] const ssize_t n = ::write(m_wake_write.get(), &byte, 1);
}

void SessionLoop::run() {
  Result<void> established = establish();
  {
    const std::lock_guard lock(m_mutex);
    if (established)
      m_established = true;
    else
      m_failure = std::move(established).error();
  }
  m_changed.notify_all();
  if (established && m_until == Until::login)
    serve();
  m_session.reset();
  const std::lock_guard lock(m_mutex);
  m_over = true;
  m_changed.notify_all();
}

Result<void> SessionLoop::establish() {
  const Result<void> first = establish_with(Agent::use);
  if (first || !m_session || !m_session->too_many_keys())
    return first;
  log_event(LogLevel::info, "ssh", "login-without-agent", {{"host", m_session->where()}});
  return establish_with(Agent::leave_out);
}

Result<void> SessionLoop::establish_with(Agent agent) {
  const Deadline deadline(m_options.connect_timeout);
  m_session.reset();
  RM_ASSIGN(m_session, Session::create(m_destination, m_options, agent));
  RM_TRY(m_session->exchange_keys(deadline));
  RM_ASSIGN(m_host_key, m_session->host_key());
  if (m_until == Until::login) {
    RM_TRY(m_session->check_pin());
    RM_TRY(m_session->login(deadline));
  }
  m_target = m_session->target();
  m_where = m_session->where();
  m_cipher = ssh_get_cipher_out(m_session->raw());
  return ok();
}

Result<std::shared_ptr<Channel>> SessionLoop::open(const std::string& command, std::size_t messages_max, const Deadline& deadline) {
  const auto channel = std::make_shared<Channel>();
  channel->command = command;
  channel->messages_max = messages_max;
  {
    const std::lock_guard lock(m_mutex);
    if (m_failure)
      return *m_failure;
    if (m_over || m_stop)
      return Error(ErrorCode::connection, "the connection to " + m_where + " is closed");
    m_new.push_back(channel);
  }
  wake();
  std::unique_lock lock(channel->mutex);
  channel->changed.wait_for(lock, deadline.left(), [&] { return channel->started || channel->failure; });
  if (channel->failure)
    return *channel->failure;
  if (!channel->started) {
    channel->close_wanted = true;
    lock.unlock();
    wake();
    return Error(ErrorCode::deadline, m_where + " did not start the command in time");
  }
  return channel;
}

void SessionLoop::serve() {
  const std::unique_ptr<ssh_event_struct, decltype(&ssh_event_free)> event(ssh_event_new(), &ssh_event_free);
  ssh_session raw = m_session->raw();
  if (!event || ssh_event_add_fd(event.get(), m_wake_read.get(), POLLIN, &drain_wake, &m_woken) != SSH_OK ||
      ssh_event_add_session(event.get(), raw) != SSH_OK)
    return fail_all(Error(ErrorCode::internal, "the event loop of libssh could not be set up"));
  m_heard = m_asked = std::chrono::steady_clock::now();
  while (!m_stop) {
    m_woken = false;
    take_new_channels();
    const std::uint64_t before = m_session->bytes_moved();
    Moved moved = Moved::no;
    for (Work& work : m_work) {
      if (step(work) == Moved::yes)
        moved = Moved::yes;
    }
    std::erase_if(m_work, [](const Work& work) { return work.step == Step::over; });
    if (m_broken || (ssh_get_status(raw) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0) {
      fail_all(line_broke());
      break;
    }
    if (line_is_dead())
      break;
    // libssh polls the socket inside its calls too: what came or went there may concern a channel that already had its turn.
    const bool again = moved == Moved::yes || m_woken || m_session->bytes_moved() != before;
    const int wait_ms = again ? 0 : static_cast<int>(std::min<std::chrono::milliseconds::rep>(m_options.keepalive.count(), 1000));
    if (ssh_event_dopoll(event.get(), wait_ms) == SSH_ERROR) {
      for (Work& work : m_work)
        static_cast<void>(step(work)); // what arrived before the end still belongs to its reader
      fail_all(line_broke());
      break;
    }
  }
  fail_all(Error(ErrorCode::connection, "the connection to " + m_where + " was closed"));
  ssh_event_remove_session(event.get(), raw);
  ssh_event_remove_fd(event.get(), m_wake_read.get());
}

void SessionLoop::take_new_channels() {
  const std::lock_guard lock(m_mutex);
  for (; !m_new.empty(); m_new.pop_front()) {
    Work work;
    work.shared = std::move(m_new.front());
    work.handle = ssh_channel_new(m_session->raw());
    m_work.push_back(std::move(work));
  }
}

void SessionLoop::fail(Work& work, const Error& error) {
  if (work.handle != nullptr)
    ssh_channel_free(work.handle);
  work.handle = nullptr;
  work.step = Step::over;
  const std::lock_guard lock(work.shared->mutex);
  if (!work.shared->failure && !work.shared->finished)
    work.shared->failure = error;
  work.shared->finished = true;
  work.shared->changed.notify_all();
}

void SessionLoop::fail_all(const Error& error) {
  {
    const std::lock_guard lock(m_mutex);
    if (!m_failure)
      m_failure = error;
  }
  take_new_channels();
  for (Work& work : m_work)
    fail(work, error);
  m_work.clear();
}

// SSH itself never notices a vanished peer while nothing is sent; an answer to our question is the sign of life.
bool SessionLoop::line_is_dead() {
  const auto now = std::chrono::steady_clock::now();
  if (m_session->bytes_received() != m_heard_bytes) {
    m_heard_bytes = m_session->bytes_received();
    m_heard = now;
  }
  if (now - m_heard >= m_options.dead_after) {
    fail_all(Error(ErrorCode::connection, "nothing was heard from " + m_where + " for " + human_seconds(std::chrono::duration<double>(now - m_heard).count()),
                   "the machine or the network in between has gone; running jobs go on there: reconnect with the same command"));
    return true;
  }
  if (now - std::max(m_heard, m_asked) >= m_options.keepalive) {
    m_asked = now;
    ssh_send_keepalive(m_session->raw());
  }
  return false;
}

Error SessionLoop::line_broke() {
  std::string why = m_session->failure_text();
  return Error(ErrorCode::connection, "the connection to " + m_where + " broke" + (why.empty() ? std::string() : ": " + why),
               "running jobs go on there: reconnect with the same command");
}

} // namespace remotemac::sync
