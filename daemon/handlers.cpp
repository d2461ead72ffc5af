#include "daemon/handlers.h"

#include "common/frame.h"
#include "common/json.h"
#include "common/text.h"
#include "daemon/environment.h"
#include "daemon/event_log.h"
#include "daemon/host_config.h"
#include "daemon/host_facts.h"
#include "daemon/interpreters.h"
#include "daemon/job_reader.h"
#include "daemon/params.h"
#include "daemon/step_environment.h"
#include "daemon/worker_choice.h"

#include <algorithm>

namespace remotemac::daemon {
namespace {
using nlohmann::json;
constexpr std::size_t k_max_jobs_waiting = 1000;
constexpr std::size_t k_max_files_asked = 10'000;
constexpr std::uint64_t k_max_seconds = 30ull * 24 * 3600;
constexpr std::uint64_t k_max_bytes = std::uint64_t{1} << 50;

Error refuse(const std::string& what, std::string hint = {}) { return Error(ErrorCode::remote_refused, what, std::move(hint)); }

bool usable_interpreter(const std::string& path) { return path.empty() || (path.front() == '/' && path.size() <= 1024 && clean_line(path) == path); }

json workers_of(DaemonParts& parts, const HostConfig& config) {
  json out = json::array();
  std::filesystem::path torch_lib; // a worker only answers against a libtorch; the host's common one is the best guess
  if (!config.packages_from.empty()) {
    if (const auto info = ask_python(parts.runner, config.packages_from)) {
      for (const std::string& site : info->sites) {
        if (parts.disk.exists(std::filesystem::path(site) / "torch" / "lib"))
          torch_lib = std::filesystem::path(site) / "torch" / "lib";
      }
    }
  }
  for (const auto& worker : worker_candidates(parts.disk, parts.program.parent_path(), config.workers))
    out.push_back({{"path", worker.string()}, {"torch", worker_torch(parts.runner, worker, torch_lib).value_or("")}});
  return out;
}
} // namespace

const Handlers::Method Handlers::k_methods[] = {
    {"host.facts", Thread::slow, &Handlers::host_facts}, {"job.submit", Thread::jobs, &Handlers::submit},    {"job.list", Thread::jobs, &Handlers::list},
    {"job.status", Thread::jobs, &Handlers::status},     {"job.events", Thread::readers, &Handlers::events}, {"job.log", Thread::readers, &Handlers::log},
    {"job.cancel", Thread::jobs, &Handlers::cancel},     {"job.stat", Thread::slow, &Handlers::stat},        {"job.fetch", Thread::readers, &Handlers::fetch},
};

const Handlers::Method* Handlers::find(std::string_view name) {
  const auto at = std::find_if(std::begin(k_methods), std::end(k_methods), [&](const Method& each) { return each.name == name; });
  return at == std::end(k_methods) ? nullptr : at;
}

std::vector<std::string> Handlers::names() {
  std::vector<std::string> out;
  for (const Method& each : k_methods)
    out.emplace_back(each.name);
  return out;
}

Result<Reply> Handlers::host_facts(const json&) {
  json facts = daemon::host_facts(m_parts.disk, m_parts.runner, m_parts.clock, m_parts.state.root());
  RM_ASSIGN(const HostConfig config, load_host_config(m_parts.disk, m_parts.state.host_toml()));
  std::vector<std::string> interpreters;
  for (const std::string& named : {config.python, config.packages_from}) {
    if (!named.empty())
      interpreters.push_back(named);
  }
  const auto ours = current_environment();
  const auto path = ours.find("PATH");
  for (const std::string& each : interpreter_candidates(path == ours.end() ? "" : path->second)) {
    if (std::find(interpreters.begin(), interpreters.end(), each) == interpreters.end())
      interpreters.push_back(each);
  }
  facts["pythons"] = json::array();
  for (const std::string& each : interpreters) {
    if (const auto info = ask_python(m_parts.runner, each))
      facts["pythons"].push_back({{"path", each}, {"version", clean_line(info->version, 40)}});
  }
  facts["workers"] = workers_of(m_parts, config);
  return Reply(std::move(facts));
}

Result<void> Handlers::check_submission(const JobSpec& spec) const {
  if (!m_parts.snapshots.has(spec.snapshot) || m_parts.retiring.contains(spec.snapshot.hex()))
    return refuse("the snapshot " + spec.snapshot.hex().substr(0, 12) + " is not on this host", "push the project again, then submit the job");
  if (!usable_interpreter(spec.environment.python) || !usable_interpreter(spec.environment.packages_from))
    return refuse("'python' and 'packages_from' must be absolute paths on the host");
  const JobLimits& limits = spec.limits;
  if (limits.wall_s < 1 || limits.wall_s > k_max_seconds || limits.step_wall_s < 1 || limits.step_wall_s > k_max_seconds)
    return refuse("the time limits must be from 1 s to 30 days");
  if (limits.disk_bytes > k_max_bytes || limits.output_bytes > k_max_bytes || limits.log_bytes > k_max_bytes)
    return refuse("a size limit is out of range");
  const std::filesystem::path tree = m_parts.snapshots.folder(spec.snapshot);
  const auto is_file = [&](const std::string& name) {
    const Result<FileStat> found = m_parts.disk.stat(tree / name);
    return found && found->kind == EntryKind::file;
  };
  for (const RelPath& file : spec.environment.requirements) {
    if (!is_file(file.text()))
      return refuse("the requirement file '" + file.text() + "' is not in the snapshot", "let the gate approve it, or take it out of the job");
    if (file.text().ends_with(".toml") || file.text().ends_with(".yml") || file.text().ends_with(".yaml") || file.text().ends_with(".py"))
      return refuse("'" + file.text() + "' is not a requirement file in pip's form", "name a requirements.txt");
  }
  for (const JobStep& step : spec.steps) {
    if (step.kind == StepKind::worker && step.task == "replay" && !is_file(step.recording))
      return refuse("the recording '" + clean_line(step.recording, 200) + "' is not in the snapshot");
  }
  return ok();
}

Result<Reply> Handlers::submit(const json& params) {
  RM_ASSIGN(const JobSpec spec, job_spec_from_json(json_at(params, "spec")));
  // Before any other check: the answer to the first attempt was lost, and what it needed may have gone since.
  RM_ASSIGN(const std::optional<std::string> earlier, m_parts.jobs.submitted_before(spec));
  if (earlier)
    return Reply(json{{"job", *earlier}});
  RM_TRY(check_submission(spec));
  RM_ASSIGN(const std::vector<JobRecord> known, m_parts.jobs.list());
  const auto waiting = std::count_if(known.begin(), known.end(), [](const JobRecord& each) { return !is_final(each.state); });
  if (static_cast<std::size_t>(waiting) >= k_max_jobs_waiting)
    return refuse("more than " + std::to_string(k_max_jobs_waiting) + " jobs are waiting already", "cancel some: remotemac cancel JOB");
  RM_ASSIGN(const std::string id, m_parts.jobs.create(spec));
  m_parts.supervisor.submitted(id);
  return Reply(json{{"job", id}});
}

// The record as stored, with the place in the queue as the reason of a waiting job.
json Handlers::shown(JobRecord record) const {
  if (record.state == JobState::queued)
    record.reason = m_parts.supervisor.queue().reason(record.job);
  return to_json(record);
}

Result<Reply> Handlers::list(const json&) {
  RM_ASSIGN(const std::vector<JobRecord> records, m_parts.jobs.list());
  json jobs = json::array();
  for (const JobRecord& each : records)
    jobs.push_back(shown(each));
  return Reply(json{{"jobs", std::move(jobs)}});
}

Result<Reply> Handlers::status(const json& params) {
  RM_ASSIGN(const std::string id, job_param(params));
  RM_ASSIGN(JobRecord record, m_parts.jobs.record(id));
  return Reply(shown(std::move(record)));
}

Result<Reply> Handlers::events(const json& params) {
  RM_ASSIGN(const std::string id, job_param(params));
  RM_ASSIGN(const std::uint64_t after, number_param(params, "after", 0, INT64_MAX));
  // The record first: when it says that the job has ended, all its events are there.
  RM_ASSIGN(const JobRecord record, m_parts.jobs.record(id));
  RM_ASSIGN(const std::vector<json> found, read_events(m_parts.disk, m_parts.jobs.paths(id).events(), static_cast<std::int64_t>(after)));
  Reply reply(json{{"events", found}, {"state", state_name(record.state)}});
  reply.nothing_yet = found.empty() && !is_final(record.state);
  return reply;
}

Result<Reply> Handlers::log(const json& params) {
  RM_ASSIGN(const std::string id, job_param(params));
  RM_ASSIGN(const std::string stream, text_param(params, "stream", 80));
  RM_ASSIGN(const std::uint64_t offset, number_param(params, "offset", 0, k_max_bytes));
  RM_ASSIGN(const std::uint64_t max_bytes, number_param(params, "max_bytes", 1, UINT32_MAX));
  RM_ASSIGN(LogSlice slice, read_log(m_parts.disk, m_parts.jobs, id, stream, offset, std::min<std::size_t>(max_bytes, k_data_max_bytes)));
  Reply reply(json{{"offset", slice.offset}, {"size_bytes", slice.bytes.size()}, {"end", slice.end}});
  reply.nothing_yet = slice.bytes.empty() && !slice.end;
  reply.data = std::move(slice.bytes);
  return reply;
}

Result<Reply> Handlers::cancel(const json& params) {
  RM_ASSIGN(const std::string id, job_param(params));
  RM_ASSIGN(const JobState state, m_parts.supervisor.cancel(id));
  return Reply(json{{"state", state_name(state)}});
}

Result<Reply> Handlers::stat(const json& params) {
  RM_ASSIGN(const std::string id, job_param(params));
  RM_ASSIGN(const std::vector<std::string> names, texts_param(params, "names", k_max_files_asked, 1200));
  RM_ASSIGN(const std::vector<FileFacts> found, stat_files(m_parts.jobs, id, names));
  json files = json::array();
  for (const FileFacts& each : found)
    files.push_back(each.missing.empty() ? json{{"name", each.name}, {"size_bytes", each.size_bytes}, {"sha256", each.sha256}} : json{{"name", each.name}, {"missing", each.missing}});
  return Reply(json{{"files", std::move(files)}});
}

Result<Reply> Handlers::fetch(const json& params) {
  RM_ASSIGN(const std::string id, job_param(params));
  RM_ASSIGN(const std::string name, text_param(params, "name", 1200));
  RM_ASSIGN(const std::uint64_t offset, number_param(params, "offset", 0, k_max_bytes));
  RM_ASSIGN(const std::uint64_t max_bytes, number_param(params, "max_bytes", 1, UINT32_MAX));
  RM_ASSIGN(FileSlice slice, fetch_file(m_parts.jobs, id, name, offset, std::min<std::size_t>(max_bytes, k_data_max_bytes)));
  Reply reply(json{{"size_bytes", slice.bytes.size()}, {"end", slice.end}});
  reply.data = std::move(slice.bytes);
  return reply;
}

} // namespace remotemac::daemon
