#include "daemon/engine.h"

#include "common/log.h"
#include "daemon/retention.h"

namespace remotemac::daemon {
namespace {
constexpr std::chrono::hours k_store_grace{7 * 24};        // an interrupted push may go on so long
constexpr std::chrono::hours k_environment_unused{30 * 24};

asio::awaitable<void> call(const std::function<void()>& work) {
  work();
  co_return;
}
} // namespace

asio::awaitable<void> run_on(asio::thread_pool& pool, const std::function<void()>& work) {
  asio::awaitable<void> task = call(work);
  co_await asio::co_spawn(pool.get_executor(), std::move(task), asio::use_awaitable);
}

Task<std::optional<std::chrono::system_clock::time_point>> sweep_everything(Engine& engine, const std::set<std::string>& released) {
  DaemonParts& parts = engine.parts;
  const SystemTime now = parts.clock.now();
  const std::function<Result<JobSweep>()> jobs_half = [&]() -> Result<JobSweep> {
    RM_ASSIGN(JobSweep sweep, sweep_jobs(parts.disk, parts.jobs, now));
    for (const std::string& each : released) {
      if (!sweep.referenced.contains(each))
        sweep.released.insert(each);
    }
    return sweep;
  };
  RM_CO_ASSIGN(const JobSweep sweep, co_await ask_on(engine.jobs, jobs_half));
  const std::function<Result<std::vector<Digest>>()> find_expired = [&] { return expired_snapshots(parts.snapshots, sweep, now, k_store_grace); };
  RM_CO_ASSIGN(std::vector<Digest> expired, co_await ask_on(engine.storage, find_expired));
  // A job may have been submitted meanwhile; what goes now is refused to later ones.
  const std::function<Result<void>()> retire = [&]() -> Result<void> {
    RM_ASSIGN(const std::vector<JobRecord> records, parts.jobs.list());
    for (const JobRecord& each : records)
      std::erase_if(expired, [&](const Digest& digest) { return digest.hex() == each.snapshot; });
    for (const Digest& each : expired)
      parts.retiring.insert(each.hex());
    return ok();
  };
  RM_CO_TRY(co_await ask_on(engine.jobs, retire));
  const std::function<Result<StoreSweep>()> store_half = [&] { return sweep_store(parts.snapshots, parts.blobs, expired, now, k_store_grace); };
  const Result<StoreSweep> swept = co_await ask_on(engine.storage, store_half);
  const std::function<Result<std::size_t>()> rest = [&] {
    for (const Digest& each : expired)
      parts.retiring.erase(parts.retiring.find(each.hex()));
    return sweep_environments(parts.disk, parts.state.envs(), now, k_environment_unused);
  };
  const Result<std::size_t> environments = co_await ask_on(engine.jobs, rest);
  if (!swept)
    co_return swept.error();
  if (!environments)
    co_return environments.error();
  if (!sweep.removed.empty() || swept->snapshots_removed > 0 || swept->blobs_removed > 0 || *environments > 0)
    log_event(LogLevel::info, "jobs", "swept", {{"jobs", std::to_string(sweep.removed.size())}, {"snapshots", std::to_string(swept->snapshots_removed)},
                                                {"blobs", std::to_string(swept->blobs_removed)}, {"environments", std::to_string(*environments)}});
  co_return sweep.next_expiry;
}

} // namespace remotemac::daemon
