#pragma once
// A real OpenSSH server for one test: private configuration, keys made on the spot, home folder of its own, everything in a temp folder.
// Either started once per connection by a ProxyCommand (`sshd -i`, no port, no root needed), or listening on a loopback port.
// (sshd as root insists on the folder /run/sshd, which is made when missing.)
#include "common/result.h"
#include "tests/support/temp_dir.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace remotemac::test {

enum class SshdVia { proxy, port };

struct SshdOptions {
  SshdVia via = SshdVia::proxy;
  std::string server_config; // more lines for sshd_config
  std::string client_config; // more lines for the client's Host block
};

class SshdFixture {
public:
  [[nodiscard]] static Result<std::unique_ptr<SshdFixture>> start(const SshdOptions& options = {});
  ~SshdFixture();
  SshdFixture(const SshdFixture&) = delete;
  SshdFixture& operator=(const SshdFixture&) = delete;

  // A client configuration with one entry, `Host standin`.
  [[nodiscard]] std::filesystem::path client_config() const { return m_dir / "client_config"; }
  [[nodiscard]] std::string destination() const { return "standin"; }
  [[nodiscard]] std::filesystem::path home() const { return m_dir / "home"; }
  [[nodiscard]] std::filesystem::path dir() const { return m_dir.path(); }
  [[nodiscard]] int port() const { return m_port; } // 0 for proxy
  [[nodiscard]] const std::string& user() const { return m_user; }
  [[nodiscard]] std::string host_key_fingerprint() const; // asked of ssh-keygen
  [[nodiscard]] std::filesystem::path key_file() const { return m_dir / "client_key"; }
  // From the next connection on, the server shows another key.
  void change_host_key();
  // Ends every sshd process of a connection, as a crash or a power cut would.
  void kill_connections() const;
  // Stops them without ending them, as a sleeping machine or a cut cable would.
  void freeze_connections() const;
  [[nodiscard]] std::string log() const; // of the server, for failures

private:
  SshdFixture() = default;
  [[nodiscard]] Result<void> make_keys();
  [[nodiscard]] Result<void> configure(const SshdOptions& options);
  [[nodiscard]] Result<void> listen();
  void signal_connections(int signal) const;

  TempDir m_dir;
  std::string m_user;
  int m_port = 0;
  pid_t m_server = -1;
};

// An ssh-agent that holds the given keys; ends with the object.
class AgentFixture {
public:
  [[nodiscard]] static Result<std::unique_ptr<AgentFixture>> start(const std::filesystem::path& socket, const std::vector<std::filesystem::path>& keys);
  ~AgentFixture();
  AgentFixture(const AgentFixture&) = delete;
  AgentFixture& operator=(const AgentFixture&) = delete;

private:
  AgentFixture() = default;
  pid_t m_agent = -1;
};

// ssh-keygen; aborts on failure.
void make_key(const std::filesystem::path& file, const std::string& type = "ed25519", const std::string& passphrase = "");

} // namespace remotemac::test
