#pragma once
// The thread of one SSH session: connects, logs in, then moves bytes between libssh and the channels. Internal to sync/ssh. All libssh
// calls happen on this thread. Shared between the transport and its streams, so that a stream may outlive the transport (it then fails).
#include "sync/ssh/channel.h"
#include "sync/ssh/session.h"

#include <atomic>
#include <deque>
#include <memory>
#include <thread>

namespace remotemac::sync {

class SessionLoop : public std::enable_shared_from_this<SessionLoop> {
public:
  enum class Until { host_key, login };
  // Waits until the host key is known, or until the login is done. stop() is for the caller then.
  [[nodiscard]] static Result<std::shared_ptr<SessionLoop>> start(const std::string& destination, const SshOptions& options, Until until);
  SessionLoop(const SessionLoop&) = delete;
  SessionLoop& operator=(const SessionLoop&) = delete;

  // Waits until the host accepted or refused the command.
  [[nodiscard]] Result<std::shared_ptr<Channel>> open(const std::string& command, std::size_t messages_max, const Deadline& deadline);
  void wake();
  // Ends the session and its thread; every channel fails. Owner's thread only; safe to call twice.
  void stop();

  // Set once start() has succeeded.
  [[nodiscard]] const SshTarget& target() const { return m_target; }
  [[nodiscard]] const std::string& where() const { return m_where; }
  [[nodiscard]] const HostKey& host_key() const { return m_host_key; }
  [[nodiscard]] const std::string& cipher() const { return m_cipher; }

private:
  enum class Step { opening, requesting, open, over };
  struct Work {
    std::shared_ptr<Channel> shared;
    ssh_channel handle = nullptr;
    Step step = Step::opening;
    ByteQueue sending;
    bool input_ended = false;
    bool out_ended = false;
  };
  enum class Moved { no, yes };
  static constexpr std::size_t k_write_bytes = std::size_t{256} << 10;

  SessionLoop(std::string destination, const SshOptions& options, Until until);
  [[nodiscard]] Result<void> await_start();
  void run();
  [[nodiscard]] Result<void> establish();
  [[nodiscard]] Result<void> establish_with(Agent agent);
  void serve();
  void take_new_channels();
  [[nodiscard]] Moved step(Work& work);
  void advance_opening(Work& work);
  [[nodiscard]] Moved pump_out(Work& work);
  [[nodiscard]] Moved pump_in(Work& work);
  [[nodiscard]] Moved pump_messages(Work& work);
  void check_end(Work& work);
  void fail(Work& work, const Error& error);
  void fail_all(const Error& error);
  [[nodiscard]] bool line_is_dead();
  [[nodiscard]] Error line_broke();

  const std::string m_destination;
  SshOptions m_options;
  const Until m_until;
  UniqueFd m_wake_read;
  UniqueFd m_wake_write;
  std::thread m_thread;
  std::atomic<bool> m_stop{false};
  std::atomic<bool> m_asking{false}; // a person is typing

  std::mutex m_mutex; // for the following, up to the blank line
  std::condition_variable m_changed;
  bool m_established = false;
  bool m_over = false;
  std::optional<Error> m_failure;
  std::deque<std::shared_ptr<Channel>> m_new;

  SshTarget m_target; // written before m_established, constant after
  std::string m_where;
  HostKey m_host_key;
  std::string m_cipher;

  std::unique_ptr<Session> m_session; // the thread's own, from here on
  std::vector<Work> m_work;
  std::vector<std::uint8_t> m_scratch;
  bool m_broken = false;
  bool m_woken = false;
  std::uint64_t m_heard_bytes = 0;
  std::chrono::steady_clock::time_point m_heard;
  std::chrono::steady_clock::time_point m_asked;
};

} // namespace remotemac::sync
