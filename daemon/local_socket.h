#pragma once
// The daemon's Unix socket: made with mode 0600 in the state folder, and only for this user. The bare name is used on both sides, after
// changing into the state folder, because macOS limits socket addresses to 104 bytes. Changes the working folder of the process:
// call before any thread is started.
#include "common/fd.h"
#include "common/result.h"
#include "daemon/state_dir.h"

#include <optional>

namespace remotemac::daemon {

// Only the holder of serve.lock may call this: a socket that lies there is a dead one then, and is replaced.
[[nodiscard]] Result<UniqueFd> listen_in(const StateDir& state);
// Empty when nobody listens.
[[nodiscard]] Result<UniqueFd> connect_in(const StateDir& state);
// The process at the other end belongs to the user of this process.
[[nodiscard]] bool peer_is_same_user(int socket);
// The process at the other end, where the system tells (Linux).
[[nodiscard]] std::optional<pid_t> peer_process(int socket);

} // namespace remotemac::daemon
