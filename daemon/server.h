#pragma once
// `remotemacd serve`: the one daemon of a state folder. Takes serve.lock, finds earlier jobs again, listens at serve.sock and runs until
// daemon.stop or a signal (SIGTERM, SIGINT). Jobs go on under their shims without it.
#include "common/fd.h"
#include "common/result.h"
#include "daemon/line.h"

#include <chrono>
#include <filesystem>

namespace remotemac::daemon {

struct ServerTimes {
  LineTimes line;
  std::chrono::milliseconds tick{200};              // between two looks at running jobs
  std::chrono::milliseconds idle_tick{5000};        // when there are none
  std::chrono::milliseconds sweep{std::chrono::minutes(10)}; // at most between two looks for what has expired
};

struct DaemonParts;
// The connections and loops of serve() over parts and a listening socket that are there already; for tests of their own.
[[nodiscard]] Result<void> serve_parts(DaemonParts& parts, UniqueFd socket, const ServerTimes& times);

// Error setup when another daemon serves this folder.
[[nodiscard]] Result<void> serve(const std::filesystem::path& state_dir, const ServerTimes& times);

} // namespace remotemac::daemon
