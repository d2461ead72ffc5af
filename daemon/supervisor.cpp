#include "daemon/supervisor.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "daemon/event_log.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
constexpr std::chrono::seconds k_start_grace{30};
constexpr std::chrono::seconds k_retry_after{5};

// A shim writes the event of the end before the record; when it died between the two, the event tells the truth.
std::optional<std::pair<JobState, std::string>> recorded_end(FileSystem& disk, const JobPaths& paths) {
  const auto events = read_events(disk, paths.events(), 0);
  if (!events || events->empty() || json_text(events->back(), "event") != "finished")
    return std::nullopt;
  const auto state = state_from_name(json_text(events->back(), "state"));
  if (!state || !is_final(*state))
    return std::nullopt;
  return std::pair{*state, json_text(events->back(), "reason")};
}
} // namespace

Result<void> Supervisor::recover() {
  RM_TRY(m_store.clean_up());
  RM_ASSIGN(const std::vector<JobRecord> records, m_store.list());
  for (const JobRecord& record : records) {
    const JobPaths paths = m_store.paths(record.job);
    if (is_final(record.state))
      continue;
    // A job that any shim ever took is running or lost, whatever its record says.
    if (record.state == JobState::queued && !m_disk.exists(paths.shim_info()) && !m_host.alive(paths))
      m_queue.add(record.job);
    else
      m_queue.add_running(record.job);
  }
  tick();
  return ok();
}

void Supervisor::submitted(const std::string& id) {
  m_queue.add(id);
  tick();
}

Result<JobState> Supervisor::cancel(const std::string& id) {
  RM_ASSIGN(JobRecord record, m_store.record(id));
  if (is_final(record.state))
    return record.state;
  if (m_queue.is_waiting(id)) {
    RM_TRY(m_store.finish(std::move(record), JobState::cancelled, "cancelled before it started"));
    m_queue.ended(id);
    return JobState::cancelled;
  }
  RM_TRY_WHILE("asking the job to end", m_store.request_cancel(id));
  return record.state;
}

void Supervisor::tick() {
  const std::vector<std::string> running = m_queue.running();
  for (const std::string& id : running)
    look_at(id);
  start_next();
}

void Supervisor::start_next() {
  while (const auto id = m_queue.next()) {
    const JobPaths paths = m_store.paths(*id);
    const Result<pid_t> pid = m_host.start(paths);
    m_queue.started(*id);
    if (pid) {
      m_started[*id] = Started{*pid, m_clock.steady()};
      log_event(LogLevel::info, "jobs", "shim-started", {{"job", *id}, {"pid", std::to_string(*pid)}});
      return;
    }
    log_event(LogLevel::error, "jobs", "shim-not-started", {{"job", *id}, {"error", pid.error().chain()}});
    Result<JobRecord> record = m_store.record(*id);
    const Result<void> done = record ? m_store.finish(std::move(*record), JobState::failed, "its shim could not be started: " + pid.error().chain()) : Result<void>(record.error());
    if (!done)
      return; // look_at() finds it later, without a shim
    m_queue.ended(*id);
  }
}

void Supervisor::look_at(const std::string& id) {
  const JobPaths paths = m_store.paths(id);
  if (!m_disk.exists(paths.root)) {
    m_queue.ended(id);
    return;
  }
  // The order matters: a shim that is gone now has written all it ever will.
  if (m_host.alive(paths)) {
    if (const auto started = m_started.find(id); started != m_started.end())
      (void)m_host.ended(started->second.pid);
    return;
  }
  if (const auto retry = m_retry_at.find(id); retry != m_retry_at.end() && m_clock.steady() < retry->second)
    return;
  const Result<JobRecord> record = m_store.record(id);
  const auto started = m_started.find(id);
  const bool ended = started == m_started.end() || m_host.ended(started->second.pid);
  const bool final = record && is_final(record->state);
  if (!final && !ended && m_clock.steady() - started->second.at < k_start_grace && !m_disk.exists(paths.shim_info()))
    return; // it has not come up yet
  if (final && !ended)
    return; // its lock is gone, so it ends now; collected at the next look, or it would stay a zombie
  JobRecord unreadable;
  unreadable.job = id;
  if (!final && !end_without_shim(id, record ? *record : unreadable)) {
    m_retry_at[id] = m_clock.steady() + k_retry_after;
    return;
  }
  m_started.erase(id);
  m_retry_at.erase(id);
  m_queue.ended(id);
  log_event(LogLevel::info, "jobs", "ended", {{"job", id}});
}

std::string Supervisor::why_lost(const std::string& id, const JobRecord& record) {
  if (!record.boot_id.empty() && record.boot_id != m_boot_id)
    return "the host was restarted while the job was not finished";
  if (!m_disk.exists(m_store.paths(id).shim_info())) {
    const Result<std::string> said = m_disk.read_file(m_store.paths(id).shim_error(), 65536);
    return "its shim ended before it took the job" + (said && !said->empty() ? ": " + clean_line(trim(*said), 500) : std::string());
  }
  return "its shim vanished without recording an end (killed from outside?)";
}

bool Supervisor::end_without_shim(const std::string& id, JobRecord record) {
  m_host.kill_leftovers(id);
  const auto recorded = recorded_end(m_disk, m_store.paths(id));
  const JobState state = recorded ? recorded->first : JobState::lost;
  const std::string reason = recorded ? recorded->second : why_lost(id, record);
  const Result<void> done = m_store.finish(std::move(record), state, reason);
  if (!done)
    log_event(LogLevel::error, "jobs", "end-not-recorded", {{"job", id}, {"error", done.error().chain()}});
  else
    log_event(LogLevel::warn, "jobs", "ended-without-record", {{"job", id}, {"state", std::string(state_name(state))}, {"reason", reason}});
  return done.has_value();
}

} // namespace remotemac::daemon
