#pragma once
// A session with a host: the transport (SSH with our pin, or a child process on host local) and the daemon's client on top of it.
#include "cli/command.h"
#include "cli/hosts.h"
#include "sync/remote_client.h"
#include "sync/ssh/ssh_transport.h"
#include "sync/transport.h"

#include <memory>

namespace remotemac::cli {

struct Session {
  std::unique_ptr<sync::Transport> transport; // outlives the client: declared first
  std::unique_ptr<sync::RemoteClient> client;
};

// From the settings and the host's pins; asks for passphrases on a terminal.
[[nodiscard]] sync::SshOptions ssh_options(Context& context, const HostRecord& host);
// The daemon of host local: beside this program, or where an installation puts it.
[[nodiscard]] Result<std::string> local_daemon(const Context& context);
// Transport only: for installing and removing.
[[nodiscard]] Result<std::unique_ptr<sync::Transport>> open_transport(Context& context, const HostRecord& host);
[[nodiscard]] Result<Session> open_session(Context& context, const HostRecord& host);

// The host a command works with: --host, else host.default, else the only remote one; error usage otherwise.
[[nodiscard]] Result<HostRecord> choose_host(Context& context, const HostStore& store, const std::string& flag);

} // namespace remotemac::cli
