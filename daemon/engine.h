#pragma once
// What all connections of a daemon share: the parts, the threads that they belong to, and the way to them from a coroutine.
#include "common/asio.h"
#include "daemon/handlers.h"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace remotemac::daemon {

// The pools are declared first: they must outlive the io_context, whose waiting coroutines refer to them.
struct Engine {
  explicit Engine(DaemonParts& owned) : parts(owned), tick(io) {}

  DaemonParts& parts;
  asio::thread_pool jobs{1};
  asio::thread_pool storage{1};
  asio::thread_pool readers{3};
  asio::io_context io{1};
  asio::steady_timer tick; // cancelled to look at the jobs at once
  std::size_t connections = 0;
};

// Runs `work` on a thread of the pool while the coroutine waits; exceptions come back. `work` lives in the caller's frame.
[[nodiscard]] asio::awaitable<void> run_on(asio::thread_pool& pool, const std::function<void()>& work);

template <typename T> [[nodiscard]] Task<T> ask_on(asio::thread_pool& pool, const std::function<Result<T>()>& question) {
  std::optional<Result<T>> answer;
  const std::function<void()> work = [&answer, &question] { answer.emplace(question()); };
  co_await run_on(pool, work);
  co_return std::move(*answer);
}

// Removes what has expired: jobs, snapshots, chunks, environments. `released`: snapshots of jobs that were just forgotten.
// Gives the next expiry of a job.
[[nodiscard]] Task<std::optional<std::chrono::system_clock::time_point>> sweep_everything(Engine& engine, const std::set<std::string>& released);

} // namespace remotemac::daemon
