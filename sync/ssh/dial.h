#pragma once
// The byte line below an SSH session: a TCP connection, or a ProxyCommand with a socket pair. libssh's own dialling is not used: it tries
// one address only, has no deadline for names, and its ProxyCommand forks without care (CVE-2026-59845). Blocking; one thread.
#include "common/clock.h"
#include "common/fd.h"
#include "common/result.h"
#include "sync/ssh/ssh_transport.h"

#include <string>
#include <sys/types.h>

namespace remotemac::sync {

// Owns the socket, and the proxy process when there is one (ended with the line).
class Line {
public:
  Line() = default;
  Line(UniqueFd socket, pid_t proxy, UniqueFd proxy_messages);
  Line(Line&& other) noexcept;
  Line& operator=(Line&& other) noexcept;
  ~Line();
  [[nodiscard]] int fd() const { return m_socket.get(); }
  // What the proxy said on its standard error so far: cleaned, one line, capped. "" for TCP.
  [[nodiscard]] std::string proxy_messages();

private:
  void end_proxy();
  UniqueFd m_socket;
  pid_t m_proxy = -1;
  UniqueFd m_messages_fd;
  std::string m_messages;
};

// Tries every address of the name. Error unreachable, with the reason and what to check.
[[nodiscard]] Result<Line> dial_tcp(const std::string& host, int port, const Deadline& deadline);
// The command is run as `/bin/sh -c "exec command"` after expand_proxy.
[[nodiscard]] Result<Line> dial_proxy(const std::string& command);
// %h host, %n name as given, %p port, %r user, %% percent. Error config for any other one.
[[nodiscard]] Result<std::string> expand_proxy(const std::string& command, const SshTarget& target, const std::string& name_given);

} // namespace remotemac::sync
