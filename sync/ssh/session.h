#pragma once
// One libssh session from configuration to login. Internal to sync/ssh. Everything is called on one thread (libssh's rule); every call
// has a deadline, except that the user's own ssh-agent is waited for as long as it asks its user.
#include "sync/ssh/destination.h"
#include "sync/ssh/dial.h"
#include "sync/ssh/identities.h"

#include <libssh/libssh.h>

namespace remotemac::sync {

enum class Agent { use, leave_out };

class Session {
public:
  // Reads the configuration.
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(const std::string& destination, const SshOptions& options, Agent agent);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const SshTarget& target() const { return m_target; }
  [[nodiscard]] std::string where() const; // "me@mini1 port 22"
  // Dials and exchanges keys; nothing of ours but a version string is sent.
  [[nodiscard]] Result<void> exchange_keys(const Deadline& deadline);
  [[nodiscard]] Result<HostKey> host_key();
  // Error host_key unless the key is pinned. The only thing that makes login() allowed.
  [[nodiscard]] Result<void> check_pin();
  [[nodiscard]] Result<void> login(const Deadline& deadline);
  // The host hung up because an agent offered too many keys: another session without the agent may get in.
  [[nodiscard]] bool too_many_keys() const { return m_too_many_keys; }

  [[nodiscard]] ssh_session raw() { return m_session; }
  // libssh's last error, cleaned, with what a proxy said.
  [[nodiscard]] std::string failure_text();
  [[nodiscard]] std::uint64_t bytes_received() const { return m_socket.in_bytes; }
  [[nodiscard]] std::uint64_t bytes_moved() const { return m_socket.in_bytes + m_socket.out_bytes; }

private:
  enum class Pin { unchecked, good };
  explicit Session(const SshOptions& options) : m_options(options) {}
  [[nodiscard]] Result<void> configure(const Destination& destination);
  [[nodiscard]] Result<void> read_target(const Destination& destination);
  void set_algorithms();
  void arm_timeout(); // what is left until m_deadline becomes libssh's own limit for the next call
  // From here on calls return at once instead of waiting.
  void make_nonblocking();
  [[nodiscard]] int patiently(const std::function<int()>& call);
  [[nodiscard]] int login_by_key();
  [[nodiscard]] int login_by_agent();
  [[nodiscard]] int login_by_file(const std::string& file);
  [[nodiscard]] int login_by_questions();
  [[nodiscard]] int login_by_password();
  [[nodiscard]] int login_once(unsigned methods, unsigned& tried);
  [[nodiscard]] Error login_refused(unsigned methods) const;
  [[nodiscard]] Error login_broke();
  [[nodiscard]] std::optional<std::string> ask(const std::string& question, Echo echo);
  static int on_passphrase(const char* prompt, char* buffer, std::size_t size, int echo, int verify, void* self);

  SshOptions m_options;
  std::string m_name_given;
  SshTarget m_target;
  ssh_session m_session = nullptr;
  ssh_counter_struct m_socket{};  // bytes on the line
  ssh_counter_struct m_payload{}; // bytes in packets; libssh wants both
  Line m_line;
  Pin m_pin = Pin::unchecked;
  Agent m_agent = Agent::use;
  Identities m_identities;
  std::string m_key_in_hand; // while a passphrase may be asked for
  bool m_answered = false;
  std::string m_locked_key; // a key file that would have needed a passphrase, or another one
  Deadline m_deadline{std::chrono::milliseconds(0)};
  bool m_too_many_keys = false;
};

} // namespace remotemac::sync
