// The messages of RemoteClient about the host and its jobs: one request, one answer, checked.
#include "sync/remote_client.h"

#include "common/json.h"
#include "common/text.h"
#include "sync/far_end.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_events_max = 1'000'000;
constexpr std::chrono::milliseconds k_wait_max{20'000};
constexpr std::chrono::minutes k_facts_wait{5}; // every interpreter and worker there is started once, from a cold disk

std::chrono::milliseconds capped(std::chrono::milliseconds wait) { return std::clamp(wait, std::chrono::milliseconds(0), k_wait_max); }
} // namespace

bool RemoteClient::has_feature(std::string_view name) const { return std::find(m_daemon.features.begin(), m_daemon.features.end(), name) != m_daemon.features.end(); }

Result<void> RemoteClient::ping() {
  RM_TRY(call("ping", nlohmann::json::object()));
  return ok();
}

Result<nlohmann::json> RemoteClient::host_facts() {
  RM_ASSIGN(const nlohmann::json answer, call("host.facts", nlohmann::json::object(), k_facts_wait));
  return clean_json(answer);
}

Result<std::string> RemoteClient::submit(const JobSpec& spec) {
  RM_ASSIGN(const nlohmann::json answer, call("job.submit", {{"spec", to_json(spec)}}));
  const std::string job = json_text(answer, "job");
  if (!is_job_id(job))
    return lied("gave a job a name that is not allowed");
  return job;
}

Result<std::vector<JobRecord>> RemoteClient::list() {
  RM_ASSIGN(const nlohmann::json answer, call("job.list", nlohmann::json::object()));
  const nlohmann::json& jobs = json_at(answer, "jobs");
  if (!jobs.is_array())
    return lied("listed its jobs in a way that is not allowed");
  std::vector<JobRecord> out;
  for (const nlohmann::json& each : jobs) {
    Result<JobRecord> record = job_record_from_json(clean_json(each));
    if (!record)
      return lied("sent a job record that is not allowed: " + record.error().chain());
    out.push_back(std::move(*record));
  }
  return out;
}

Result<JobRecord> RemoteClient::status(const std::string& job) {
  RM_ASSIGN(const nlohmann::json answer, call("job.status", {{"job", job}}));
  Result<JobRecord> record = job_record_from_json(clean_json(answer));
  if (!record || record->job != job)
    return lied("sent a job record that is not the one asked for" + (record ? std::string() : ": " + record.error().chain()));
  return record;
}

Result<JobEvents> RemoteClient::events(const std::string& job, std::uint64_t after, std::chrono::milliseconds wait) {
  RM_ASSIGN(const nlohmann::json answer, call("job.events", {{"job", job}, {"after", after}, {"wait_ms", capped(wait).count()}}, capped(wait)));
  const nlohmann::json& events = json_at(answer, "events");
  const std::optional<JobState> state = state_from_name(json_text(answer, "state"));
  if (!events.is_array() || events.size() > k_events_max || !state)
    return lied("sent events in a way that is not allowed");
  JobEvents out{{}, after, *state};
  for (const nlohmann::json& each : events) {
    const std::int64_t sequence = json_int(each, "seq", -1);
    if (sequence < 0 || static_cast<std::uint64_t>(sequence) <= out.last_seq)
      return lied("sent events out of order");
    out.last_seq = static_cast<std::uint64_t>(sequence);
    out.events.push_back(clean_json(each));
  }
  return out;
}

Result<BytesPart> RemoteClient::log(const std::string& job, const std::string& stream, std::uint64_t offset, std::size_t max_bytes, std::chrono::milliseconds wait) {
  const std::size_t most = std::min(max_bytes, k_data_max_bytes);
  RM_ASSIGN(const nlohmann::json answer,
            call("job.log", {{"job", job}, {"stream", stream}, {"offset", offset}, {"max_bytes", most}, {"wait_ms", capped(wait).count()}}, capped(wait)));
  const std::int64_t from = json_int(answer, "offset", -1);
  if (from < 0 || static_cast<std::uint64_t>(from) != offset)
    return lied("sent log bytes from another place than asked");
  return read_part(answer, most);
}

Result<std::string> RemoteClient::cancel(const std::string& job) {
  RM_ASSIGN(const nlohmann::json answer, call("job.cancel", {{"job", job}}));
  const std::optional<JobState> state = state_from_name(json_text(answer, "state"));
  if (!state)
    return lied("answered a cancellation with an unknown state");
  return std::string(state_name(*state));
}

Result<std::vector<RemoteFile>> RemoteClient::stat(const std::string& job, const std::vector<RelPath>& names) {
  nlohmann::json list = nlohmann::json::array();
  for (const RelPath& name : names)
    list.push_back(name.text());
  // The host hashes the files for this, which takes its time for large ones.
  RM_ASSIGN(const nlohmann::json answer, call("job.stat", {{"job", job}, {"names", std::move(list)}}, k_work_wait));
  const nlohmann::json& files = json_at(answer, "files");
  if (!files.is_array() || files.size() != names.size())
    return lied("described other files than those asked for");
  std::vector<RemoteFile> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (json_text(files[i], "name") != names[i].text())
      return lied("described other files than those asked for");
    RemoteFile file{names[i], 0, {}, clean_line(json_text(files[i], "missing"), 500)};
    if (file.missing.empty()) {
      const std::int64_t size = json_int(files[i], "size_bytes", -1);
      const Result<Digest> digest = Digest::from_hex(json_text(files[i], "sha256"));
      if (size < 0 || !digest)
        return lied("described '" + names[i].text() + "' in a way that is not allowed");
      file.size_bytes = static_cast<std::uint64_t>(size);
      file.sha256 = *digest;
    }
    out.push_back(std::move(file));
  }
  return out;
}

Result<BytesPart> RemoteClient::fetch(const std::string& job, const RelPath& name, std::uint64_t offset, std::size_t max_bytes) {
  const std::size_t most = std::min(max_bytes, k_data_max_bytes);
  RM_ASSIGN(const nlohmann::json answer, call("job.fetch", {{"job", job}, {"name", name.text()}, {"offset", offset}, {"max_bytes", most}}));
  return read_part(answer, most);
}

Result<void> RemoteClient::forget(const std::string& job) {
  RM_TRY(call("job.forget", {{"job", job}}, k_work_wait));
  return ok();
}

Result<void> RemoteClient::stop() {
  RM_TRY(call("daemon.stop", nlohmann::json::object()));
  return ok();
}

} // namespace remotemac::sync
