// Logging in: the agent, key files, and what a person answers.
#include "sync/ssh/session.h"

#include "common/log.h"
#include "common/text.h"

#include <cstring>
#include <poll.h>

namespace remotemac::sync {
namespace {
constexpr int k_passphrase_tries = 3;

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

std::string method_names(unsigned methods) {
  std::vector<std::string> names;
  if ((methods & SSH_AUTH_METHOD_PUBLICKEY) != 0)
    names.emplace_back("a key");
  if ((methods & SSH_AUTH_METHOD_INTERACTIVE) != 0)
    names.emplace_back("questions");
  if ((methods & SSH_AUTH_METHOD_PASSWORD) != 0)
    names.emplace_back("a password");
  return names.empty() ? "nothing that we support" : join(names, ", ");
}
} // namespace

// libssh's own waiting does not notice that the host hung up, and would sit out the whole timeout.
int Session::patiently(const std::function<int()>& call) {
  while (true) {
    const int status = call();
    if (status != SSH_AUTH_AGAIN)
      return status;
    if (m_deadline.passed() || (ssh_get_status(m_session) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0)
      return SSH_AUTH_ERROR;
    const bool writing = (ssh_get_status(m_session) & SSH_WRITE_PENDING) != 0;
    pollfd entry{ssh_get_fd(m_session), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0};
    ::poll(&entry, 1, std::min(m_deadline.poll_ms(), 1000));
  }
}

std::optional<std::string> Session::ask(const std::string& question, Echo echo) {
  if (!m_options.ask)
    return std::nullopt;
  const auto left = m_deadline.left();
  std::optional<std::string> answer = m_options.ask(question, echo);
  m_deadline = Deadline(left); // the person's time does not count
  return answer;
}

int Session::on_passphrase(const char* /*prompt*/, char* buffer, std::size_t size, int /*echo*/, int /*verify*/, void* self) {
  auto& session = *static_cast<Session*>(self);
  const std::optional<std::string> answer = session.ask("Passphrase for " + session.m_key_in_hand, Echo::no);
  session.m_answered = answer.has_value();
  if (!answer || answer->size() >= size)
    return -1;
  std::memcpy(buffer, answer->c_str(), answer->size() + 1);
  return 0;
}

Error Session::login_broke() {
  const std::string why = failure_text();
  m_too_many_keys = m_agent == Agent::use && why.find("Too many authentication failures") != std::string::npos;
  if (why.find("Too many authentication failures") != std::string::npos)
    return Error(ErrorCode::authentication, where() + " hung up because too many keys were offered",
                 "name the key for this host in ~/.ssh/config: IdentityFile, and IdentitiesOnly yes");
  if (m_deadline.passed())
    return Error(ErrorCode::deadline, "the login at " + where() + " did not finish in time");
  return Error(ErrorCode::connection, where() + " broke off during the login: " + why);
}

Error Session::login_refused(unsigned methods) const {
  const std::string message = where() + " refused the login of user '" + m_target.user + "'; it accepts " + method_names(methods);
  if (!m_locked_key.empty() && !m_options.ask)
    return Error(ErrorCode::authentication, message + "; the key " + m_locked_key + " is protected by a passphrase that nobody could be asked for",
                 "load it into the agent first: ssh-add " + shell_quote(m_locked_key));
  if (!m_locked_key.empty())
    return Error(ErrorCode::authentication, message + "; the key " + m_locked_key + " could not be opened with the passphrase given", "try again");
  std::string hint = "check the user name, and that one of your public keys is in ~/.ssh/authorized_keys there; try: ssh " +
                     (m_target.port == 22 ? std::string() : "-p " + std::to_string(m_target.port) + " ") + m_target.user + "@" + m_target.host;
  if ((methods & SSH_AUTH_METHOD_PUBLICKEY) == 0 && !m_options.ask)
    hint = "nobody could be asked here: run the command at a terminal, or set up a key";
  return Error(ErrorCode::authentication, message, hint);
}

int Session::login_by_agent() {
  if (m_agent == Agent::leave_out || m_identities.agent == "none")
    return SSH_AUTH_DENIED;
  if (!m_identities.agent.empty())
    ssh_options_set(m_session, SSH_OPTIONS_IDENTITY_AGENT, m_identities.agent.c_str());
  return patiently([&] { return ssh_userauth_agent(m_session, nullptr); });
}

// The host is asked first whether it would take the key, so that nobody types a passphrase for nothing.
int Session::login_by_file(const std::string& file) {
  ssh_key raw = nullptr;
  if (ssh_pki_import_pubkey_file((file + ".pub").c_str(), &raw) == SSH_OK) {
    const Key shown(raw);
    if (const int status = patiently([&] { return ssh_userauth_try_publickey(m_session, nullptr, shown.get()); }); status != SSH_AUTH_SUCCESS)
      return status;
  }
  m_key_in_hand = file;
  for (int attempt = 0; attempt < k_passphrase_tries; ++attempt) {
    m_answered = false;
    raw = nullptr;
    if (ssh_pki_import_privkey_file(file.c_str(), nullptr, &Session::on_passphrase, this, &raw) == SSH_OK) {
      const Key key(raw);
      m_locked_key.clear();
      return patiently([&] { return ssh_userauth_publickey(m_session, nullptr, key.get()); });
    }
    m_locked_key = file;
    if (!m_answered)
      break;
  }
  return SSH_AUTH_DENIED;
}

int Session::login_by_key() {
  int status = m_identities.only ? SSH_AUTH_DENIED : login_by_agent();
  for (const std::filesystem::path& file : m_identities.files) {
    if (status != SSH_AUTH_DENIED)
      return status;
    if (::access(file.c_str(), R_OK) == 0)
      status = login_by_file(file.string());
  }
  // libssh cannot ask an agent for one key only: with IdentitiesOnly the agent is the last resort, for keys that nobody unlocked here.
  if (status == SSH_AUTH_DENIED && m_identities.only && !m_locked_key.empty())
    status = login_by_agent();
  return status;
}

int Session::login_by_questions() {
  int status = patiently([&] { return ssh_userauth_kbdint(m_session, nullptr, nullptr); });
  for (int round = 0; status == SSH_AUTH_INFO && round < 20; ++round) {
    const char* instruction = ssh_userauth_kbdint_getinstruction(m_session);
    const int count = ssh_userauth_kbdint_getnprompts(m_session);
    for (int i = 0; i < count; ++i) {
      char echo = 0;
      const char* prompt = ssh_userauth_kbdint_getprompt(m_session, static_cast<unsigned>(i), &echo);
      std::string question = instruction == nullptr || *instruction == '\0' ? std::string() : clean_line(instruction, 500) + " ";
      question += where() + ": " + clean_line(prompt == nullptr ? "" : prompt, 500);
      const std::optional<std::string> answer = ask(question, echo != 0 ? Echo::yes : Echo::no);
      if (!answer || ssh_userauth_kbdint_setanswer(m_session, static_cast<unsigned>(i), answer->c_str()) < 0)
        return SSH_AUTH_DENIED;
    }
    status = patiently([&] { return ssh_userauth_kbdint(m_session, nullptr, nullptr); });
  }
  return status == SSH_AUTH_INFO ? SSH_AUTH_DENIED : status;
}

int Session::login_by_password() {
  const std::optional<std::string> answer = ask("Password of " + where(), Echo::no);
  return answer ? patiently([&] { return ssh_userauth_password(m_session, nullptr, answer->c_str()); }) : SSH_AUTH_DENIED;
}

// Every kind is tried once: servers punish repeated failures by address, which hits the whole laboratory.
int Session::login_once(unsigned methods, unsigned& tried) {
  int status = SSH_AUTH_DENIED;
  const auto may = [&](unsigned method) { return status == SSH_AUTH_DENIED && (methods & method) != 0 && (tried & method) == 0; };
  if (may(SSH_AUTH_METHOD_PUBLICKEY)) {
    tried |= SSH_AUTH_METHOD_PUBLICKEY;
    status = login_by_key();
  }
  if (may(SSH_AUTH_METHOD_INTERACTIVE) && m_options.ask) {
    tried |= SSH_AUTH_METHOD_INTERACTIVE;
    status = login_by_questions();
  }
  if (may(SSH_AUTH_METHOD_PASSWORD) && m_options.ask) {
    tried |= SSH_AUTH_METHOD_PASSWORD;
    status = login_by_password();
  }
  return status;
}

Result<void> Session::login(const Deadline& deadline) {
  if (m_pin != Pin::good)
    return Error(ErrorCode::internal, "a login was tried before the host key was checked");
  m_deadline = deadline;
  make_nonblocking();
  int status = patiently([&] { return ssh_userauth_none(m_session, nullptr); });
  unsigned tried = 0;
  for (int stage = 0; stage < 4 && status != SSH_AUTH_SUCCESS; ++stage) {
    if (status == SSH_AUTH_ERROR)
      return login_broke();
    const auto methods = static_cast<unsigned>(ssh_userauth_list(m_session, nullptr));
    status = login_once(methods, tried);
    if (status == SSH_AUTH_DENIED)
      return login_refused(methods);
  }
  if (status != SSH_AUTH_SUCCESS)
    return status == SSH_AUTH_PARTIAL ? login_refused(static_cast<unsigned>(ssh_userauth_list(m_session, nullptr))) : login_broke();
  log_event(LogLevel::info, "ssh", "login", {{"host", where()}, {"cipher", ssh_get_cipher_out(m_session)}});
  return ok();
}

} // namespace remotemac::sync
