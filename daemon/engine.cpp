#include "daemon/engine.h"

#include "common/log.h"
#include "daemon/retention.h"

namespace remotemac::daemon {
namespace {
constexpr std::chrono::hours k_store_grace{7 * 24};        // an interrupted push may go on so long
constexpr std::chrono::hours k_environment_unused{30 * 24};
constexpr std::size_t k_strands = 16;
constexpr std::size_t k_chunks_at_once = 256; // deleted before somebody else may use the storage thread

asio::awaitable<void> call(const std::function<void()>& work) {
  work();
  co_return;
}

// One look for what has expired. Its owner awaits its end.
class Sweep {
public:
  Sweep(Engine& engine, const std::set<std::string>& released) : m_engine(engine), m_parts(engine.parts), m_released(released), m_now(engine.parts.clock.now()) {}

  Task<std::optional<SystemTime>> run() {
    RM_CO_TRY(co_await retire());
    Result<void> done = co_await delete_discarded();
    const Result<void> stored = co_await delete_stored();
    RM_CO_TRY(co_await restore());
    const Result<void> unused = co_await delete_environments();
    for (const Result<void>* each : {&stored, &unused}) {
      if (done && !*each)
        done = *each;
    }
    if (!done)
      co_return done.error();
    if (!m_jobs.removed.empty() || m_snapshots_removed > 0 || m_blobs_removed > 0 || m_environments_removed > 0)
      log_event(LogLevel::info, "jobs", "swept", {{"jobs", std::to_string(m_jobs.removed.size())}, {"snapshots", std::to_string(m_snapshots_removed)},
                                                  {"blobs", std::to_string(m_blobs_removed)}, {"environments", std::to_string(m_environments_removed)}});
    co_return m_jobs.next_expiry;
  }

private:
  // Which jobs and snapshots go. From here on a snapshot that goes is refused to new jobs.
  Task<void> retire() {
    const std::function<Result<void>()> jobs_half = [this]() -> Result<void> {
      RM_ASSIGN(m_jobs, sweep_jobs(m_parts.disk, m_parts.jobs, m_now));
      for (const std::string& each : m_released) {
        if (!m_jobs.referenced.contains(each))
          m_jobs.released.insert(each);
      }
      return ok();
    };
    RM_CO_TRY(co_await ask_on(m_engine.jobs, jobs_half));
    const std::function<Result<void>()> find_expired = [this]() -> Result<void> {
      RM_ASSIGN(m_expired, expired_snapshots(m_parts.snapshots, m_jobs, m_now, k_store_grace));
      return ok();
    };
    RM_CO_TRY(co_await ask_on(m_engine.storage, find_expired));
    // A job may have been submitted meanwhile.
    const std::function<Result<void>()> announce = [this]() -> Result<void> {
      RM_ASSIGN(const std::vector<JobRecord> records, m_parts.jobs.list());
      for (const JobRecord& each : records)
        std::erase_if(m_expired, [&](const Digest& digest) { return digest.hex() == each.snapshot; });
      for (const Digest& each : m_expired)
        m_parts.retiring.insert(each.hex());
      return ok();
    };
    co_return co_await ask_on(m_engine.jobs, announce);
  }

  Task<void> restore() {
    const std::function<Result<void>()> forget = [this] {
      for (const Digest& each : m_expired)
        m_parts.retiring.erase(m_parts.retiring.find(each.hex()));
      return ok();
    };
    co_return co_await ask_on(m_engine.jobs, forget);
  }

  Task<void> delete_discarded() {
    const std::function<Result<void>()> remove = [this]() -> Result<void> {
      RM_ASSIGN(const std::vector<std::filesystem::path> discarded, m_parts.jobs.discarded());
      for (const std::filesystem::path& each : discarded) {
        // One that cannot be deleted (a job can make its files so on macOS) is tried again each time and stands in nobody's way.
        if (const Result<void> removed = m_parts.disk.remove_tree(each); !removed)
          log_event(LogLevel::error, "jobs", "files-not-deleted", {{"error", removed.error().chain()}});
      }
      return ok();
    };
    co_return co_await ask_on(m_engine.deleting, remove);
  }

  // A snapshot where snapshots of its name are built; then chunks, listed at leisure and removed a few at a time.
  Task<void> delete_stored() {
    for (const Digest& each : m_expired) {
      const std::function<Result<void>()> remove = [this, &each] { return remove_expired(m_parts.snapshots, each, m_doomed); };
      RM_CO_TRY(co_await ask_on(m_engine.building(each), remove));
      ++m_snapshots_removed;
    }
    const std::function<Result<UselessChunks>()> find = [this] { return find_useless(m_parts.snapshots, m_parts.blobs, m_doomed, m_now, k_store_grace); };
    RM_CO_ASSIGN(UselessChunks useless, co_await ask_on(m_engine.deleting, find));
    const std::function<Result<std::size_t>()> remove_some = [this, &useless] { return remove_useless(m_parts.snapshots, m_parts.blobs, useless, k_chunks_at_once); };
    while (!useless.chunks.empty()) {
      RM_CO_ASSIGN(const std::size_t removed, co_await ask_on(m_engine.storage, remove_some));
      m_blobs_removed += removed;
    }
    co_return ok();
  }

  Task<void> delete_environments() {
    const std::function<Result<void>()> remove = [this]() -> Result<void> {
      RM_ASSIGN(m_environments_removed, sweep_environments(m_parts.disk, m_parts.state.envs(), m_now, k_environment_unused));
      return ok();
    };
    co_return co_await ask_on(m_engine.deleting, remove);
  }

  Engine& m_engine;
  DaemonParts& m_parts;
  const std::set<std::string>& m_released;
  const SystemTime m_now;
  JobSweep m_jobs;
  std::vector<Digest> m_expired;
  std::unordered_set<Digest> m_doomed;
  std::size_t m_snapshots_removed = 0;
  std::size_t m_blobs_removed = 0;
  std::size_t m_environments_removed = 0;
};
} // namespace

Engine::Engine(DaemonParts& owned)
    : parts(owned), jobs(m_jobs_pool.get_executor()), storage(m_storage_pool.get_executor()), readers(m_readers_pool.get_executor()), slow(m_slow_pool.get_executor()),
      deleting(asio::make_strand(m_slow_pool)), tick(io) {
  for (std::size_t i = 0; i < k_strands; ++i)
    m_building.emplace_back(asio::make_strand(m_slow_pool));
}

void Engine::join_pools() {
  for (asio::thread_pool* each : {&m_readers_pool, &m_storage_pool, &m_slow_pool, &m_jobs_pool})
    each->join();
}

asio::awaitable<void> run_on(const Engine::Where& where, const std::function<void()>& work) {
  asio::awaitable<void> task = call(work);
  co_await asio::co_spawn(where, std::move(task), asio::use_awaitable);
}

Task<std::optional<SystemTime>> sweep_everything(Engine& engine, const std::set<std::string>& released) {
  Sweep sweep(engine, released);
  co_return co_await sweep.run();
}

} // namespace remotemac::daemon
