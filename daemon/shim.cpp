#include "daemon/shim.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "common/version.h"
#include "daemon/embedded.h"
#include "daemon/environment.h"
#include "daemon/event_log.h"
#include "daemon/file_lock.h"
#include "daemon/host_facts.h"
#include "daemon/job_store.h"
#include "daemon/processes.h"
#include "daemon/spawn.h"
#include "daemon/step_runner.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
constexpr int k_final_record_tries = 120; // half a second apart: a full disk may be emptied

class JobRun {
public:
  JobRun(PosixFileSystem& disk, const JobPaths& paths, JobSpec spec, JobRecord record, EventLog events, const ShimTimes& times)
      : m_disk(disk), m_paths(paths), m_spec(std::move(spec)), m_record(std::move(record)), m_events(std::move(events)), m_times(times), m_children(m_record.job, times.ladder),
        m_stop(m_paths.cancel(), JobStop::DiskWatch{m_paths.work(), m_spec.limits.disk_bytes, times.disk_interval}), m_state(paths.root.parent_path().parent_path()) {}

  void run() {
    m_record.state = JobState::preparing;
    m_record.started = rfc3339(m_clock.now());
    m_record.boot_id = boot_id();
    m_record.daemon_version = k_version;
    note("preparing", json::object());
    save();
    const Result<PreparedEnvironment> environment = prepare();
    if (!environment)
      return finish(end_of_preparation(environment.error()));
    const Result<StepContext> context = make_context(*environment);
    if (!context)
      return finish(JobEnd{JobState::failed, context.error().chain()});
    finish(run_steps(*context));
  }

private:
  Result<PreparedEnvironment> prepare() {
    RM_ASSIGN(CappedLog log, CappedLog::open(m_paths.log("environment"), m_spec.limits.log_bytes));
    RM_ASSIGN(m_host, load_host_config(m_disk, m_state / "host.toml"));
    EnvironmentRequest request{m_spec.environment, m_host, m_spec.snapshot, m_state / "snapshots" / m_spec.snapshot.hex(), m_record.job, m_ours};
    EnvironmentMaker maker(m_disk, m_runner, m_children, m_state / "envs");
    m_stop.begin(m_times.environment_limit, JobStop::Watch::clocks);
    const auto began = m_clock.steady();
    Result<PreparedEnvironment> made = maker.prepare(request, log, m_stop);
    if (!made)
      log.write("remotemac: " + made.error().chain() + "\n");
    log.flush();
    if (!made)
      return made;
    const double seconds = std::chrono::duration<double>(m_clock.steady() - began).count();
    m_record.environment = EnvironmentRecord{made->key, made->reused, seconds, made->python.string(), made->torch, log.file_bytes()};
    note("environment-ready", {{"key", made->key}, {"reused", made->reused}, {"seconds", seconds}, {"torch", made->torch}});
    return made;
  }

  static JobEnd end_of_preparation(const Error& error) {
    if (error.code() == ErrorCode::interrupted)
      return {JobState::cancelled, "cancelled while its environment was made"};
    if (error.code() == ErrorCode::deadline)
      return {JobState::timed_out, error.chain()};
    return {JobState::failed, "environment: " + error.chain()};
  }

  Result<StepContext> make_context(const PreparedEnvironment& environment) {
    RM_ASSIGN(const fs::path program, own_program());
    RM_ASSIGN(const fs::path harness, install_harness(m_disk, m_state / "harness", embedded::harness()));
    const NetworkGuard guard = find_network_guard();
    m_record.network = guard_name(guard);
    return StepContext{m_disk, m_runner, m_children, m_stop, m_spec, m_paths, m_record.job, m_host, environment, guard, m_state / "snapshots", harness, program.parent_path(), m_ours};
  }

  JobEnd run_steps(const StepContext& context) {
    m_record.state = JobState::running;
    save();
    m_stop.start_job_clock(std::chrono::seconds(m_spec.limits.wall_s));
    StepRunner runner(context);
    std::vector<std::string> details(m_spec.steps.size());
    for (std::size_t i = 0; i < m_spec.steps.size(); ++i) {
      m_stop.begin(std::chrono::seconds(m_spec.limits.step_wall_s), JobStop::Watch::clocks);
      if (const auto cause = m_stop.check())
        return judge_job(m_record.steps, details, cause);
      StepRecord& record = m_record.steps.at(i);
      record.state = "running";
      note("step-started", {{"step", record.name}});
      save();
      StepResult result = runner.run(m_spec.steps[i]);
      record = std::move(result.record);
      details[i] = std::move(result.detail);
      m_record.environment_removed.merge(result.removed);
      note_end_of_step(record, details[i]);
      save();
      if (result.ended_by_job_limit)
        return judge_job(m_record.steps, details, record.reason == "cancelled" ? StopCause::cancelled : StopCause::job_wall);
    }
    return judge_job(m_record.steps, details, std::nullopt);
  }

  void note_end_of_step(const StepRecord& record, const std::string& detail) {
    if (record.reason == "wall-time" || record.reason == "disk-limit" || record.reason == "output-limit")
      note("limit", {{"step", record.name}, {"reason", record.reason}, {"detail", detail}});
    if (record.reason == "cancelled")
      note("cancel", {{"step", record.name}});
    json fields{{"step", record.name}, {"reason", record.reason}, {"seconds", record.seconds}, {"detail", detail}};
    fields["exit_code"] = record.exit_code ? json(*record.exit_code) : json(nullptr);
    fields["signal"] = record.signal ? json(*record.signal) : json(nullptr);
    note("step-finished", fields);
  }

  // The event first: if only one of the two can still be written, the event tells the next daemon how it ended.
  void finish(const JobEnd& end) {
    if (const Result<void> removed = m_disk.remove_tree(m_paths.work()); !removed)
      log_event(LogLevel::warn, "jobs", "work-not-removed", {{"job", m_record.job}, {"error", removed.error().chain()}});
    m_record.state = end.state;
    m_record.reason = end.reason;
    m_record.finished = rfc3339(m_clock.now());
    m_record.expires = expiry(m_clock.now(), m_spec.keep_s);
    bool noted = false;
    for (int tries = 0; tries < k_final_record_tries; ++tries) {
      noted = noted || note("finished", {{"state", state_name(end.state)}, {"reason", end.reason}});
      if (noted && save())
        return;
      ::poll(nullptr, 0, 500);
    }
  }

  bool note(std::string_view event, const json& fields) {
    const Result<void> written = m_events.append(event, fields);
    if (!written)
      log_event(LogLevel::error, "jobs", "event-not-written", {{"job", m_record.job}, {"event", std::string(event)}, {"error", written.error().chain()}});
    return written.has_value();
  }

  bool save() {
    const Result<void> written = save_record(m_disk, m_paths, m_record);
    if (!written)
      log_event(LogLevel::error, "jobs", "record-not-written", {{"job", m_record.job}, {"error", written.error().chain()}});
    return written.has_value();
  }

  PosixFileSystem& m_disk;
  SystemClock m_clock;
  JobPaths m_paths;
  JobSpec m_spec;
  JobRecord m_record;
  EventLog m_events;
  ShimTimes m_times;
  PosixProcessRunner m_runner;
  PosixChildRunner m_children;
  JobStop m_stop;
  fs::path m_state;
  HostConfig m_host;
  std::map<std::string, std::string> m_ours = current_environment();
};

Result<void> introduce(FileSystem& disk, const Clock& clock, const JobPaths& paths) {
  const json info{{"pid", ::getpid()}, {"start_time", process_start_time(::getpid())}, {"boot_id", boot_id()}, {"daemon_version", k_version}, {"time", rfc3339(clock.now())}};
  return disk.write_atomic(paths.shim_info(), dump_json(info) + "\n", 0600);
}
} // namespace

JobEnd judge_job(const std::vector<StepRecord>& steps, const std::vector<std::string>& details, std::optional<StopCause> ended_early) {
  if (ended_early == StopCause::cancelled)
    return {JobState::cancelled, "cancelled"};
  if (ended_early)
    return {JobState::timed_out, "the job ran longer than its limit"};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string& reason = steps[i].reason;
    if (reason != "ok" && reason != "exit" && reason != "signal" && reason != "no-worker")
      return {JobState::failed, "step '" + steps[i].name + "': " + (details[i].empty() ? reason : reason + ": " + details[i])};
  }
  return {};
}

Result<void> run_shim(const fs::path& job_dir, const ShimTimes& times) {
  PosixFileSystem disk;
  const SystemClock clock;
  const JobPaths paths{job_dir};
  block_stop_signals();
  become_reaper();
  RM_TRY(open_log(paths.shim_log(), LogLevel::info));
  RM_ASSIGN(const std::optional<FileLock> lock, FileLock::try_take(paths.shim_lock()));
  if (!lock)
    return Error(ErrorCode::setup, "another shim has this job");
  RM_ASSIGN(JobSpec spec, load_spec(disk, paths));
  RM_ASSIGN(JobRecord record, load_record(disk, paths));
  if (record.state != JobState::queued || record.steps.size() != spec.steps.size())
    return Error(ErrorCode::setup, "the job is not waiting to be started");
  RM_TRY(introduce(disk, clock, paths));
  RM_ASSIGN(EventLog events, EventLog::open(disk, clock, paths.events()));
  JobRun(disk, paths, std::move(spec), std::move(record), std::move(events), times).run();
  return ok();
}

} // namespace remotemac::daemon
