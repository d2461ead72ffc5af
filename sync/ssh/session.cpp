#include "sync/ssh/session.h"

#include "common/log.h"
#include "common/text.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>

namespace remotemac::sync {
namespace {
struct FreeText {
  void operator()(char* text) const { ssh_string_free_char(text); }
};
using Text = std::unique_ptr<char, FreeText>;

std::string option(ssh_session session, ssh_options_e which) {
  char* value = nullptr;
  if (ssh_options_get(session, which, &value) != SSH_OK || value == nullptr)
    return {};
  const Text owned(value);
  return value;
}

// libssh before 0.11.5 and 0.12.1 does not notice a wrong AES-GCM tag (CVE-2026-59847): there the line would have no integrity at all.
bool gcm_is_sound() {
  return ssh_version(SSH_VERSION_INT(0, 12, 1)) != nullptr ||
         (ssh_version(SSH_VERSION_INT(0, 11, 5)) != nullptr && ssh_version(SSH_VERSION_INT(0, 12, 0)) == nullptr);
}

// Counter mode comes before chacha20, which needs strict key exchange on both sides against prefix truncation (CVE-2023-48795).
constexpr const char* k_ciphers = "aes128-ctr,aes256-ctr,aes192-ctr,chacha20-poly1305@openssh.com";
constexpr const char* k_ciphers_gcm = "aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes256-ctr,chacha20-poly1305@openssh.com";
constexpr const char* k_macs = "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512";
constexpr const char* k_key_types[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"};

std::string algorithms_of(const std::string& key_type) { return key_type == "ssh-rsa" ? "rsa-sha2-512,rsa-sha2-256" : key_type; }
} // namespace

Result<std::unique_ptr<Session>> Session::create(const std::string& destination, const SshOptions& options, Agent agent) {
  RM_ASSIGN(const Destination parsed, parse_destination(destination));
  std::unique_ptr<Session> session(new Session(options));
  session->m_session = ssh_new();
  if (session->m_session == nullptr)
    return Error(ErrorCode::internal, "no memory for an SSH session");
  RM_TRY(session->configure(parsed));
  RM_TRY(session->read_target(parsed));
  session->set_algorithms();
  session->m_agent = agent;
  session->m_identities = read_identities(options.config_file, session->m_name_given, session->m_target);
  return session;
}

Session::~Session() {
  if (m_session == nullptr)
    return;
  // libssh neither closes a descriptor that it was given, nor keeps its hands off it when the line breaks.
  const int descriptor = ssh_get_fd(m_session);
  ssh_disconnect(m_session);
  ssh_free(m_session);
  UniqueFd closing(descriptor);
}

Result<void> Session::configure(const Destination& destination) {
  const int quiet = SSH_LOG_NOLOG;
  ssh_options_set(m_session, SSH_OPTIONS_LOG_VERBOSITY, &quiet);
  m_name_given = destination.host;
  const std::string host = destination.host.find(':') == std::string::npos ? destination.host : "[" + destination.host + "]";
  if (ssh_options_set(m_session, SSH_OPTIONS_HOST, host.c_str()) != SSH_OK)
    return Error(ErrorCode::usage, "'" + host + "' is not a valid host name");
  if (!destination.user.empty())
    ssh_options_set(m_session, SSH_OPTIONS_USER, destination.user.c_str());
  const std::string file = m_options.config_file.string();
  if (!file.empty() && ::access(file.c_str(), R_OK) != 0)
    return Error(ErrorCode::config, "cannot read the SSH configuration " + file + ": " + std::strerror(errno));
  if (ssh_options_parse_config(m_session, file.empty() ? nullptr : file.c_str()) != SSH_OK)
    return Error(ErrorCode::config, "the SSH configuration " + (file.empty() ? "~/.ssh/config" : file) + " could not be read: " + failure_text(),
                 "compare with: ssh -G " + m_name_given);
  // Not the configuration's business here: LogLevel would write to our terminal, compression is ours (zstd), keys are pinned by us.
  ssh_options_set(m_session, SSH_OPTIONS_LOG_VERBOSITY, &quiet);
  ssh_options_set(m_session, SSH_OPTIONS_COMPRESSION, "no");
  ssh_options_set(m_session, SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
  ssh_options_set(m_session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  return ok();
}

Result<void> Session::read_target(const Destination& destination) {
  m_target.host = option(m_session, SSH_OPTIONS_HOST);
  m_target.user = option(m_session, SSH_OPTIONS_USER);
  if (m_target.user.empty() && ssh_options_set(m_session, SSH_OPTIONS_USER, nullptr) == SSH_OK)
    m_target.user = option(m_session, SSH_OPTIONS_USER);
  unsigned port = 0;
  if (destination.port != 0) {
    port = static_cast<unsigned>(destination.port);
    ssh_options_set(m_session, SSH_OPTIONS_PORT, &port);
  } else {
    ssh_options_get_port(m_session, &port);
  }
  m_target.port = port == 0 ? 22 : static_cast<int>(port);
  if (!is_safe_host(m_target.host) || !is_safe_user(m_target.user))
    return Error(ErrorCode::config, "the SSH configuration gives '" + clean_line(m_target.user + "@" + m_target.host, 300) + "' for '" + m_name_given +
                                        "', which holds a character that is not allowed",
                 "look at HostName and User of that entry");
  std::string command = option(m_session, SSH_OPTIONS_PROXYCOMMAND);
  if (command.empty())
    return ok();
  // What libssh makes of a ProxyJump is a call of ssh, which must read the same configuration as we did.
  if (!m_options.config_file.empty() && command.starts_with("ssh ") && command.find(" -W '[%h]:%p' ") != std::string::npos)
    command.insert(3, " -F " + shell_quote(m_options.config_file.string()));
  RM_ASSIGN(m_target.proxy, expand_proxy(command, m_target, m_name_given));
  return ok();
}

void Session::set_algorithms() {
  const char* ciphers = gcm_is_sound() ? k_ciphers_gcm : k_ciphers;
  ssh_options_set(m_session, SSH_OPTIONS_CIPHERS_C_S, ciphers);
  ssh_options_set(m_session, SSH_OPTIONS_CIPHERS_S_C, ciphers);
  ssh_options_set(m_session, SSH_OPTIONS_HMAC_C_S, k_macs);
  ssh_options_set(m_session, SSH_OPTIONS_HMAC_S_C, k_macs);
  std::vector<std::string> types;
  for (const HostKey& pin : m_options.pinned) {
    if (!pin.type.empty() && std::find(types.begin(), types.end(), pin.type) == types.end())
      types.push_back(pin.type);
  }
  // A host that has lost its pinned key shall show another one, so that the error can name it.
  for (const char* type : k_key_types) {
    if (std::find(types.begin(), types.end(), type) == types.end())
      types.emplace_back(type);
  }
  for (std::string& type : types)
    type = algorithms_of(type);
  ssh_options_set(m_session, SSH_OPTIONS_HOSTKEYS, join(types, ",").c_str());
}

std::string Session::where() const { return to_text({m_target.user, m_target.host, m_target.port}); }

void Session::arm_timeout() {
  const auto left = std::max(m_deadline.left(), std::chrono::milliseconds(1));
  const long seconds = 0;
  const long microseconds = static_cast<long>(std::chrono::microseconds(left).count());
  ssh_options_set(m_session, SSH_OPTIONS_TIMEOUT, &seconds);
  ssh_options_set(m_session, SSH_OPTIONS_TIMEOUT_USEC, &microseconds);
}

std::string Session::failure_text() {
  std::string text = clean_line(ssh_get_error(m_session), 300);
  const std::string proxy = m_line.proxy_messages();
  return proxy.empty() ? text : text + " (the ProxyCommand said: " + proxy + ")";
}

Result<void> Session::exchange_keys(const Deadline& deadline) {
  m_deadline = deadline;
  if (m_target.proxy.empty()) {
    RM_ASSIGN(m_line, dial_tcp(m_target.host, m_target.port, deadline));
  } else {
    RM_ASSIGN(m_line, dial_proxy(m_target.proxy));
  }
  UniqueFd copy(::fcntl(m_line.fd(), F_DUPFD_CLOEXEC, 0));
  if (!copy)
    return io_error("cannot copy a descriptor", errno);
  const int descriptor = copy.release();
  ssh_options_set(m_session, SSH_OPTIONS_FD, &descriptor);
  ssh_set_counters(m_session, &m_socket, &m_payload);
  arm_timeout();
  if (ssh_connect(m_session) == SSH_OK)
    return ok();
  if (deadline.passed())
    return Error(ErrorCode::deadline, where() + " was reached, but the SSH key exchange did not finish in time",
                 m_target.proxy.empty() ? "is it really an SSH server? try: ssh -v " + m_name_given : "check the ProxyCommand: " + clean_line(m_target.proxy, 200));
  const std::string why = failure_text();
  if (!m_target.proxy.empty() && m_socket.in_bytes == 0)
    return Error(ErrorCode::unreachable, "the ProxyCommand for " + where() + " ended without reaching it: " + why, "try it by hand: " + clean_line(m_target.proxy, 200));
  return Error(ErrorCode::connection, "the SSH key exchange with " + where() + " failed: " + why, "is it really an SSH server? try: ssh -v " + m_name_given);
}

Result<HostKey> Session::host_key() {
  ssh_key key = nullptr;
  if (ssh_get_server_publickey(m_session, &key) != SSH_OK)
    return Error(ErrorCode::connection, "the host key of " + where() + " could not be read: " + failure_text());
  const std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)> owned(key, &ssh_key_free);
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != 0)
    return Error(ErrorCode::internal, "the fingerprint of the host key could not be computed");
  const Text text(ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size));
  ssh_clean_pubkey_hash(&hash);
  if (text == nullptr)
    return Error(ErrorCode::internal, "the fingerprint of the host key could not be computed");
  return HostKey{ssh_key_type_to_char(ssh_key_type(key)), text.get()};
}

Result<void> Session::check_pin() {
  RM_ASSIGN(const HostKey shown, host_key());
  std::vector<std::string> expected;
  for (const HostKey& pin : m_options.pinned) {
    if (pin.fingerprint == shown.fingerprint && (pin.type.empty() || pin.type == shown.type)) {
      m_pin = Pin::good;
      return ok();
    }
    expected.push_back(pin.type.empty() ? pin.fingerprint : pin.type + " " + pin.fingerprint);
  }
  if (expected.empty())
    return Error(ErrorCode::host_key, where() + " shows the key " + shown.type + " " + shown.fingerprint + ", and no key is pinned for it",
                 "compare it with what the provider's console shows, then pin it with: remotemac host add");
  return Error(ErrorCode::host_key,
               where() + " shows another host key than the pinned one: it shows " + shown.type + " " + shown.fingerprint + ", pinned is " + join(expected, ", "),
               "nothing was sent. Either the machine was reinstalled, or somebody is in between: compare with the provider's console before you pin the new key");
}

// The descriptor too: libssh writes only after poll() said yes, so it never meets EAGAIN, and a stalled line cannot hold the thread.
void Session::make_nonblocking() {
  ssh_set_blocking(m_session, 0);
  ::fcntl(m_line.fd(), F_SETFL, ::fcntl(m_line.fd(), F_GETFL) | O_NONBLOCK);
}

} // namespace remotemac::sync
