#pragma once
// Transport over SSH by libssh; the only header of this folder that others include. One session, one thread of its own, many channels.
// Our own pins decide whether a host is the right one: known_hosts files are not consulted. The agent is used for logging in and never
// forwarded. ~/.ssh/config is honoured as far as libssh's own parser goes (Host, Match, Include, HostName, User, Port, IdentityFile,
// IdentityAgent, ProxyCommand, ProxyJump through the ssh program, ConnectTimeout is ours).
#include "sync/transport.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace remotemac::sync {

struct HostKey {
  std::string type;        // "ssh-ed25519"; "" in a pin = any type
  std::string fingerprint; // "SHA256:" + 43 base64 characters
  bool operator==(const HostKey&) const = default;
};

enum class Echo { no, yes };
// Asks a person for a passphrase, a password or an answer; nullopt = they gave up. Called on the session's thread while connect() waits;
// the time it takes does not count. An empty function: nobody can be asked, and an error says what would have been needed.
using AskSecret = std::function<std::optional<std::string>(const std::string& question, Echo echo)>;

struct SshOptions {
  std::filesystem::path config_file; // empty: ~/.ssh/config, then /etc/ssh/ssh_config
  std::vector<HostKey> pinned;       // connect() refuses every other key; empty is an error of the caller
  AskSecret ask;
  std::chrono::milliseconds connect_timeout{20'000}; // name, TCP or proxy, key exchange and login together
  std::chrono::milliseconds keepalive{10'000};       // a request that the host must answer is sent after this much silence
  std::chrono::milliseconds dead_after{30'000};      // and after this much silence the line counts as dead
};

// What the destination means after the configuration was read, for messages and records.
struct SshTarget {
  std::string user;
  std::string host;
  int port = 22;
  std::string proxy; // the ProxyCommand, "" = direct
};

// No network. Errors usage, config.
[[nodiscard]] Result<SshTarget> resolve_destination(const std::string& destination, const std::filesystem::path& config_file);
// The key that the host shows, without logging in. Errors: usage, config, unreachable, connection, deadline.
[[nodiscard]] Result<HostKey> fetch_host_key(const std::string& destination, const SshOptions& options);

class SshTransport final : public Transport {
public:
  // Errors: usage, config, unreachable (name, refused, no route, no answer), host_key, authentication, connection, deadline.
  [[nodiscard]] static Result<std::unique_ptr<SshTransport>> connect(const std::string& destination, const SshOptions& options);
  ~SshTransport() override;

  [[nodiscard]] Result<std::unique_ptr<ByteStream>> exec(const std::string& remote_command, const Deadline& deadline) override;
  [[nodiscard]] Result<ProcessResult> run(const std::string& remote_command, std::string_view input, const Deadline& deadline,
                                          std::size_t max_output_bytes) override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] const HostKey& host_key() const;
  // "libssh 0.10.6, aes128-ctr", for `remotemac version` and reports.
  [[nodiscard]] std::string crypto() const;

private:
  struct Impl;
  explicit SshTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

// Version of the libssh that is linked.
[[nodiscard]] std::string libssh_version();

} // namespace remotemac::sync
