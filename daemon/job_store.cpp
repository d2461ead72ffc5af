#include "daemon/job_store.h"

#include "common/json.h"
#include "common/text.h"
#include "common/version.h"
#include "daemon/event_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
constexpr std::size_t k_document_max_bytes = std::size_t{16} << 20;
const std::string k_discarded = ".discarded-";

Result<nlohmann::json> load(FileSystem& disk, const std::filesystem::path& file, std::string_view what) {
  RM_ASSIGN(const std::string text, disk.read_file(file, k_document_max_bytes));
  return parse_json(text, what);
}
} // namespace

Result<JobSpec> load_spec(FileSystem& disk, const JobPaths& paths) {
  RM_ASSIGN_WHILE("reading the job specification", const nlohmann::json value, load(disk, paths.spec(), "the job specification"));
  return job_spec_from_json(value);
}

Result<JobRecord> load_record(FileSystem& disk, const JobPaths& paths) {
  RM_ASSIGN_WHILE("reading the job record", const nlohmann::json value, load(disk, paths.record(), "the job record"));
  return job_record_from_json(value);
}

Result<void> save_record(FileSystem& disk, const JobPaths& paths, const JobRecord& record) {
  RM_TRY_WHILE("writing the job record", disk.write_atomic(paths.record(), dump_json(to_json(record)) + "\n", 0600));
  return ok();
}

std::string expiry(std::chrono::system_clock::time_point from, std::uint64_t keep_s) { return rfc3339(from + std::chrono::seconds(keep_s)); }

Result<std::string> JobStore::create(const JobSpec& spec) {
  const std::string spec_text = dump_json(to_json(spec)) + "\n";
  if (spec_text.size() > k_document_max_bytes)
    return Error(ErrorCode::remote_refused, "the job specification has " + human_bytes(spec_text.size()) + ", more than the " + human_bytes(k_document_max_bytes) + " that can be read again");
  JobRecord record;
  record.job = spec.submit_key.empty() ? new_job_id() : job_id_of_key(spec.submit_key);
  record.project = spec.project;
  record.snapshot = spec.snapshot.hex();
  record.submitted = rfc3339(m_clock.now());
  record.expires = expiry(m_clock.now(), spec.keep_s);
  record.boot_id = m_boot_id;
  record.daemon_version = k_version;
  for (const JobStep& step : spec.steps) {
    StepRecord each;
    each.name = step.name;
    each.kind = step.kind == StepKind::harness ? "harness" : "worker";
    record.steps.push_back(std::move(each));
  }
  const JobPaths temp{m_root / ("." + record.job)};
  const auto fill = [&]() -> Result<void> {
    RM_TRY(m_disk.remove_tree(temp.root)); // of an attempt under the same key that failed
    for (const auto& folder : {temp.logs(), temp.work(), temp.evidence(), temp.outputs()})
      RM_TRY(m_disk.make_dirs(folder));
    RM_TRY(m_disk.write_atomic(temp.spec(), spec_text, 0600));
    RM_TRY(save_record(m_disk, temp, record));
    RM_ASSIGN(EventLog events, EventLog::open(m_disk, m_clock, temp.events()));
    RM_TRY(events.append("queued", nlohmann::json::object()));
    return m_disk.rename(temp.root, paths(record.job).root);
  };
  if (Result<void> filled = fill(); !filled) {
    (void)m_disk.remove_tree(temp.root).has_value(); // else clean_up() does it
    return std::move(filled).error_while("making the folder of a job");
  }
  return record.job;
}

Result<std::optional<std::string>> JobStore::submitted_before(const JobSpec& spec) const {
  const std::string id = spec.submit_key.empty() ? std::string() : job_id_of_key(spec.submit_key);
  if (id.empty() || !exists(id))
    return std::optional<std::string>();
  RM_ASSIGN(const JobSpec earlier, load_spec(m_disk, paths(id)));
  if (to_json(earlier) != to_json(spec))
    return Error(ErrorCode::remote_refused, "another job was submitted under the same key", "submit this one under a key of its own");
  return std::optional<std::string>(id);
}

bool JobStore::exists(const std::string& id) const {
  return is_job_id(id) && m_disk.exists(paths(id).root);
}

Result<JobPaths> JobStore::find(const std::string& id) const {
  if (!exists(id))
    return Error(ErrorCode::no_job, "there is no job '" + clean_line(id, 40) + "' on this host", "list them with: remotemac jobs");
  return paths(id);
}

Result<JobRecord> JobStore::record(const std::string& id) const {
  RM_ASSIGN(const JobPaths found, find(id));
  return load_record(m_disk, found);
}

Result<void> JobStore::save(const JobRecord& record) {
  RM_ASSIGN(const JobPaths found, find(record.job));
  return save_record(m_disk, found, record);
}

Result<std::vector<JobRecord>> JobStore::list() const {
  RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_root));
  std::vector<JobRecord> out;
  for (const DirEntry& entry : entries) {
    if (entry.kind != EntryKind::directory || !is_job_id(entry.name))
      continue;
    Result<JobRecord> found = load_record(m_disk, paths(entry.name));
    if (!found) {
      JobRecord lost;
      lost.state = JobState::lost;
      lost.reason = "its record cannot be read: " + found.error().chain();
      found = std::move(lost);
    }
    found->job = entry.name; // the folder's name decides
    out.push_back(std::move(*found));
  }
  std::stable_sort(out.begin(), out.end(), [](const JobRecord& a, const JobRecord& b) { return a.submitted < b.submitted; });
  return out;
}

Result<void> JobStore::finish(JobRecord record, JobState state, const std::string& reason) {
  RM_ASSIGN(const JobPaths found, find(record.job));
  const Result<JobSpec> spec = load_spec(m_disk, found);
  RM_ASSIGN(EventLog events, EventLog::open(m_disk, m_clock, found.events()));
  const nlohmann::json fields{{"state", state_name(state)}, {"reason", reason}};
  RM_TRY(events.append("finished", fields));
  record.state = state;
  record.reason = reason;
  record.finished = rfc3339(m_clock.now());
  record.expires = expiry(m_clock.now(), spec ? spec->keep_s : JobSpec().keep_s);
  for (StepRecord& step : record.steps) {
    if (step.state == "running") {
      step.state = "done";
      step.reason = std::string(state_name(state));
    }
  }
  return save_record(m_disk, found, record);
}

Result<void> JobStore::request_cancel(const std::string& id) {
  RM_ASSIGN(const JobPaths found, find(id));
  return m_disk.write_atomic(found.cancel(), rfc3339(m_clock.now()) + "\n", 0600);
}

Result<void> JobStore::discard(const std::string& id) {
  RM_ASSIGN(const JobPaths found, find(id));
  // A name of its own each time: the same id may come again (its submit key) while the files still wait.
  return m_disk.rename(found.root, m_root / (k_discarded + id + "-" + random_hex(4)));
}

Result<std::vector<std::filesystem::path>> JobStore::discarded() const {
  RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_root));
  std::vector<std::filesystem::path> out;
  for (const DirEntry& entry : entries) {
    if (entry.name.starts_with(k_discarded))
      out.push_back(m_root / entry.name);
  }
  return out;
}

Result<void> JobStore::clean_up() {
  RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_root));
  for (const DirEntry& entry : entries) {
    if (entry.name.starts_with(".") && !entry.name.starts_with(k_discarded))
      RM_TRY(m_disk.remove_tree(m_root / entry.name));
  }
  return ok();
}

} // namespace remotemac::daemon
