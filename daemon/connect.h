#pragma once
// `remotemacd connect`: the bridge between the standard streams that ssh gives us and the daemon's socket. Starts the daemon when none
// runs. Writes `REMOTEMAC-READY <nonce>` only when the daemon is reached. Single-threaded; knows nothing about frames.
#include "common/fd.h"
#include "common/result.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace remotemac::daemon {

struct ConnectTimes {
  std::chrono::milliseconds start{15'000}; // until the daemon answers; below the client's 20 s, so that our reason arrives
  std::chrono::milliseconds drain{30'000}; // for the last answer, after the client said that it will send no more
};

// Errors: usage for a nonce that is not 32 lower-case hex digits; setup when the daemon does not come up, with what it said.
[[nodiscard]] Result<void> connect(const std::string& nonce, const std::filesystem::path& state_dir, const ConnectTimes& times);

// Copies in -> socket and socket -> out until both directions ended. Puts all three into non-blocking mode.
[[nodiscard]] Result<void> pump(int in, int out, UniqueFd socket, std::chrono::milliseconds drain);

} // namespace remotemac::daemon
