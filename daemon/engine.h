#pragma once
// What all connections of a daemon share: the parts, the threads that they belong to, and the way to them from a coroutine.
#include "common/asio.h"
#include "daemon/handlers.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace remotemac::daemon {

// Who does what, so that nothing that takes long stands in the way of another client. Each connection has one request at a time, so it is
// waiting for one of these at most, and never holds more than one frame.
//   jobs     one thread: the supervisor, `retiring`, and all changes of jobs. Short work only.
//   storage  one thread: chunks come and go here, offers are looked at. Short work only: at most one pack, one batch of old chunks.
//   readers  reads of jobs; unpacking and parsing of what a client sent, writing of long answers. Bounded by the caps of the protocol.
//   slow     whatever may take minutes: building snapshots, deleting, hashing outputs, asking interpreters. Two of it never work on the
//            same snapshot (building()), nor delete at the same time (deleting).
// The pools are declared first: they must outlive the io_context, whose waiting coroutines refer to them.
struct Engine {
  using Where = asio::any_io_executor;
  explicit Engine(DaemonParts& owned);

  [[nodiscard]] const Where& building(const Digest& snapshot) const { return m_building[snapshot.bytes[0] % m_building.size()]; }

  DaemonParts& parts;

private:
  asio::thread_pool m_jobs_pool{1};
  asio::thread_pool m_storage_pool{1};
  asio::thread_pool m_readers_pool{3};
  asio::thread_pool m_slow_pool{4};
  std::vector<Where> m_building; // strands

public:
  // Waits for what was begun.
  void join_pools();

  const Where jobs;
  const Where storage;
  const Where readers;
  const Where slow;
  const Where deleting;
  asio::io_context io{1};
  asio::steady_timer tick;          // cancelled to look at the jobs at once
  std::uint64_t manifest_bytes = 0; // announced by all connections that are sending one
};

// Runs `work` there while the coroutine waits; exceptions come back. `where` and `work` live in the caller's frame.
[[nodiscard]] asio::awaitable<void> run_on(const Engine::Where& where, const std::function<void()>& work);

template <typename T> [[nodiscard]] Task<T> ask_on(const Engine::Where& where, const std::function<Result<T>()>& question) {
  std::optional<Result<T>> answer;
  const std::function<void()> work = [&answer, &question] { answer.emplace(question()); };
  co_await run_on(where, work);
  co_return std::move(*answer);
}

// Removes what has expired: jobs, snapshots, chunks, environments. `released`: snapshots of jobs that were just forgotten.
// Gives the next expiry of a job.
[[nodiscard]] Task<std::optional<std::chrono::system_clock::time_point>> sweep_everything(Engine& engine, const std::set<std::string>& released);

} // namespace remotemac::daemon
