// How SessionLoop moves the bytes of one channel, from its opening to its end. Everything here runs on the session's thread.
#include "sync/ssh/session_loop.h"

#include <algorithm>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_flood_bytes = std::size_t{16} << 20;
}

SessionLoop::Moved SessionLoop::step(Work& work) {
  bool close_wanted = false;
  {
    const std::lock_guard lock(work.shared->mutex);
    close_wanted = work.shared->close_wanted;
  }
  if (close_wanted || work.handle == nullptr) {
    fail(work, Error(ErrorCode::connection, close_wanted ? "the stream was closed" : "no memory for an SSH channel"));
    return Moved::no;
  }
  if (work.step != Step::open) {
    advance_opening(work);
    return work.step == Step::open ? Moved::yes : Moved::no;
  }
  const Moved out = pump_out(work);
  const Moved in = work.step == Step::over ? Moved::no : pump_in(work);
  if (work.step == Step::open)
    check_end(work);
  return out == Moved::yes || in == Moved::yes ? Moved::yes : Moved::no;
}

void SessionLoop::advance_opening(Work& work) {
  if (work.step == Step::opening) {
    const int status = ssh_channel_open_session(work.handle);
    if (status == SSH_AGAIN)
      return;
    if (status != SSH_OK)
      return fail(work, Error(ErrorCode::connection, m_where + " refused to open another channel: " + m_session->failure_text(),
                              "its sshd may allow few sessions (MaxSessions)"));
    work.step = Step::requesting;
  }
  const int status = ssh_channel_request_exec(work.handle, work.shared->command.c_str());
  if (status == SSH_AGAIN)
    return;
  if (status != SSH_OK)
    return fail(work, Error(ErrorCode::setup, m_where + " refused to run a command: " + m_session->failure_text(),
                            "the account may be limited to file transfer, or sshd to another command"));
  work.step = Step::open;
  const std::lock_guard lock(work.shared->mutex);
  work.shared->started = true;
  work.shared->changed.notify_all();
}

SessionLoop::Moved SessionLoop::pump_out(Work& work) {
  Channel& channel = *work.shared;
  Moved moved = Moved::no;
  for (std::size_t sent = 0; sent < 2 * k_write_bytes && !work.input_ended;) {
    if (work.sending.empty()) {
      const std::lock_guard lock(channel.mutex);
      std::swap(work.sending, channel.out);
      if (work.sending.empty() && channel.input_complete && !work.input_ended) {
        work.input_ended = true;
        ssh_channel_send_eof(work.handle);
      }
      if (work.sending.empty())
        break;
      channel.changed.notify_all();
    }
    const std::size_t window = ssh_channel_window_size(work.handle);
    const std::size_t size = std::min({work.sending.size(), window, k_write_bytes});
    if (size == 0)
      break;
    const int written = ssh_channel_write(work.handle, work.sending.data(), static_cast<std::uint32_t>(size));
    if (written < 0) {
      // The far end has closed its reading side; its last words are still to be read, so this is not the end of the stream.
      const std::lock_guard lock(channel.mutex);
      work.input_ended = true;
      channel.write_failure = Error(ErrorCode::connection, "the command on " + m_where + " stopped reading: " + m_session->failure_text());
      work.sending = ByteQueue();
      channel.changed.notify_all();
      break;
    }
    if (written == 0)
      break; // keys are being exchanged anew
    work.sending.drop(static_cast<std::size_t>(written));
    sent += static_cast<std::size_t>(written);
    moved = Moved::yes;
    if ((ssh_get_status(m_session->raw()) & SSH_WRITE_PENDING) != 0)
      return Moved::no; // the socket is full: wait for it instead of spinning
  }
  return moved;
}

SessionLoop::Moved SessionLoop::pump_in(Work& work) {
  Channel& channel = *work.shared;
  Moved moved = Moved::no;
  while (!work.out_ended) {
    std::size_t room = 0;
    {
      const std::lock_guard lock(channel.mutex);
      room = Channel::k_in_max - std::min(Channel::k_in_max, channel.in.size());
    }
    if (room == 0) {
      if (ssh_channel_poll(work.handle, 0) > static_cast<int>(k_flood_bytes))
        fail(work, Error(ErrorCode::protocol, m_where + " sends more than SSH's window allows"));
      break;
    }
    const auto want = static_cast<std::uint32_t>(std::min(room, m_scratch.size()));
    const int got = ssh_channel_read_nonblocking(work.handle, m_scratch.data(), want, 0);
    if (got == SSH_EOF)
      work.out_ended = true;
    m_broken = m_broken || got == SSH_ERROR;
    if (got <= 0)
      break;
    const std::lock_guard lock(channel.mutex);
    channel.in.append(std::span(m_scratch).first(static_cast<std::size_t>(got)));
    channel.changed.notify_all();
    moved = Moved::yes;
  }
  return work.step == Step::open && pump_messages(work) == Moved::yes ? Moved::yes : moved;
}

SessionLoop::Moved SessionLoop::pump_messages(Work& work) {
  Channel& channel = *work.shared;
  Moved moved = Moved::no;
  int got = 0;
  while ((got = ssh_channel_read_nonblocking(work.handle, m_scratch.data(), static_cast<std::uint32_t>(m_scratch.size()), 1)) > 0) {
    const std::lock_guard lock(channel.mutex);
    const std::size_t room = channel.messages_max - std::min(channel.messages_max, channel.messages.size());
    channel.messages.append(reinterpret_cast<const char*>(m_scratch.data()), std::min(room, static_cast<std::size_t>(got)));
    channel.messages_truncated = channel.messages_truncated || static_cast<std::size_t>(got) > room;
    moved = Moved::yes;
  }
  return moved;
}

void SessionLoop::check_end(Work& work) {
  if (!work.out_ended)
    return;
  Channel& channel = *work.shared;
  const int status = ssh_channel_get_exit_status(work.handle);
  const bool closed = ssh_channel_is_closed(work.handle) != 0;
  const std::lock_guard lock(channel.mutex);
  if (!channel.ended || (!channel.finished && (status != -1 || closed))) {
    channel.ended = true;
    channel.exit_status = status;
    channel.finished = status != -1 || closed;
    channel.changed.notify_all();
  }
}

} // namespace remotemac::sync
