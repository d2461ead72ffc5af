#include "common/job.h"

#include "common/json.h"
#include "common/text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac {
namespace {
using nlohmann::json;

constexpr std::string_view k_states[] = {"queued", "preparing", "running", "succeeded", "failed", "timed-out", "cancelled", "lost"};

Error bad(const std::string& what) { return Error(ErrorCode::protocol, "the job specification " + what); }

json texts(const std::vector<RelPath>& paths) {
  json out = json::array();
  for (const RelPath& path : paths)
    out.push_back(path.text());
  return out;
}

Result<std::vector<RelPath>> paths_of(const json& list, std::size_t max) {
  std::vector<RelPath> out;
  if (list.is_null())
    return out;
  if (!list.is_array() || list.size() > max)
    return bad("has a path list that is not a list or too long");
  for (const json& each : list) {
    if (!each.is_string())
      return bad("has a path that is not text");
    RM_ASSIGN(RelPath path, RelPath::create(each.get<std::string>()));
    out.push_back(std::move(path));
  }
  return out;
}

Result<std::vector<std::string>> strings_of(const json& list, std::size_t max, std::size_t max_bytes) {
  std::vector<std::string> out;
  if (list.is_null())
    return out;
  if (!list.is_array() || list.size() > max)
    return bad("has an argument list that is not a list or too long");
  for (const json& each : list) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > max_bytes || each.get_ref<const std::string&>().find('\0') != std::string::npos)
      return bad("has an argument that is not text, too long or holds a NUL");
    out.push_back(each.get<std::string>());
  }
  return out;
}

Result<std::map<std::string, std::string>> map_of(const json& object, std::size_t max) {
  std::map<std::string, std::string> out;
  if (object.is_null())
    return out;
  if (!object.is_object() || object.size() > max)
    return bad("has a table that is not an object or too large");
  for (auto it = object.begin(); it != object.end(); ++it) {
    const bool good = it->is_string() && !it.key().empty() && it.key().find_first_of(std::string_view("=\0", 2)) == std::string::npos &&
                      it->get_ref<const std::string&>().find('\0') == std::string::npos;
    if (!good)
      return bad("has a variable that is not usable");
    out[it.key()] = it->get<std::string>();
  }
  return out;
}

json step_json(const JobStep& step) {
  json out{{"name", step.name}, {"device", step.device}};
  if (step.kind == StepKind::harness) {
    out.update({{"kind", "harness"}, {"mode", step.mode}, {"fallback", step.fallback}, {"record", step.record}, {"argv", step.argv}, {"env", step.env}});
    out["outputs"] = texts(step.outputs);
  } else {
    out.update({{"kind", "worker"}, {"task", step.task}, {"profile", step.profile}, {"recording", step.recording}});
  }
  return out;
}

bool one_of(std::string_view value, std::initializer_list<std::string_view> known) { return std::find(known.begin(), known.end(), value) != known.end(); }

Result<JobStep> step_from_json(const json& value) {
  JobStep step;
  step.name = json_text(value, "name");
  step.device = json_text(value, "device");
  if (!is_step_name(step.name))
    return bad("has a step whose name is not [a-z0-9-]{1,32}");
  if (!one_of(step.device, {"mps", "cuda", "cpu", "auto"}))
    return bad("asks for the unknown device '" + clean_line(step.device, 40) + "'");
  const std::string kind = json_text(value, "kind");
  if (kind == "harness") {
    step.mode = json_text(value, "mode");
    step.fallback = json_text(value, "fallback");
    step.record = json_flag(value, "record");
    if (!one_of(step.mode, {"backend", "mini-run"}) || !one_of(step.fallback, {"strict", "permissive", "none"}))
      return bad("has a harness step with an unknown mode or fallback");
    RM_ASSIGN(step.argv, strings_of(json_at(value, "argv"), 1000, 65536));
    RM_ASSIGN(step.outputs, paths_of(json_at(value, "outputs"), 1000));
    RM_ASSIGN(step.env, map_of(json_at(value, "env"), 200));
    if (step.mode == "mini-run" && step.argv.empty())
      return bad("has a mini-run without a command");
    return step;
  }
  if (kind != "worker")
    return bad("has a step of the unknown kind '" + clean_line(kind, 40) + "'");
  step.kind = StepKind::worker;
  step.task = json_text(value, "task");
  step.profile = json_text(value, "profile", "quick");
  step.recording = json_text(value, "recording");
  if (!one_of(step.task, {"battery", "replay"}) || !one_of(step.profile, {"quick", "standard", "full"}))
    return bad("has a worker step with an unknown task or profile");
  if (!step.recording.empty())
    RM_TRY(RelPath::create(step.recording));
  return step;
}

json optional_int(const std::optional<int>& value) { return value ? json(*value) : json(nullptr); }
std::optional<int> int_or_none(const json& object, std::string_view key) {
  const json& value = json_at(object, key);
  return value.is_number_integer() ? std::optional<int>(static_cast<int>(json_int(object, key))) : std::nullopt;
}
bool is_submit_key(std::string_view text) { return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }
json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }
std::uint64_t unsigned_of(const json& object, std::string_view key, std::uint64_t fallback = 0) {
  const std::int64_t value = json_int(object, key, -1);
  return value < 0 ? fallback : static_cast<std::uint64_t>(value);
}
} // namespace

std::string_view state_name(JobState state) { return k_states[static_cast<std::size_t>(state)]; }

std::optional<JobState> state_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(k_states); ++i) {
    if (k_states[i] == name)
      return static_cast<JobState>(i);
  }
  return std::nullopt;
}

bool is_final(JobState state) { return state >= JobState::succeeded; }

json to_json(const JobSpec& spec) {
  json steps = json::array();
  for (const JobStep& step : spec.steps)
    steps.push_back(step_json(step));
  json out{{"version", 1},
           {"project", spec.project},
           {"snapshot", spec.snapshot.hex()},
           {"environment", {{"requirements", texts(spec.environment.requirements)}, {"python", spec.environment.python}, {"packages_from", spec.environment.packages_from}}},
           {"limits",
            {{"wall_s", spec.limits.wall_s}, {"step_wall_s", spec.limits.step_wall_s}, {"output_bytes", spec.limits.output_bytes}, {"disk_bytes", spec.limits.disk_bytes}, {"log_bytes", spec.limits.log_bytes}}},
           {"keep_s", spec.keep_s},
           {"steps", std::move(steps)}};
  if (!spec.submit_key.empty())
    out["submit_key"] = spec.submit_key;
  return out;
}

Result<JobSpec> job_spec_from_json(const json& value) {
  JobSpec spec;
  if (json_int(value, "version") != 1)
    return bad("is not of version 1");
  spec.project = json_text(value, "project");
  if (spec.project.empty() || spec.project.size() > 200 || clean_line(spec.project) != spec.project)
    return bad("has no usable project name");
  RM_ASSIGN(spec.snapshot, Digest::from_hex(json_text(value, "snapshot")));
  const json& environment = json_at(value, "environment");
  RM_ASSIGN(spec.environment.requirements, paths_of(json_at(environment, "requirements"), 100));
  spec.environment.python = json_text(environment, "python");
  spec.environment.packages_from = json_text(environment, "packages_from");
  const json& limits = json_at(value, "limits");
  spec.limits.wall_s = unsigned_of(limits, "wall_s", spec.limits.wall_s);
  spec.limits.step_wall_s = unsigned_of(limits, "step_wall_s", spec.limits.step_wall_s);
  spec.limits.output_bytes = unsigned_of(limits, "output_bytes", spec.limits.output_bytes);
  spec.limits.disk_bytes = unsigned_of(limits, "disk_bytes", spec.limits.disk_bytes);
  spec.limits.log_bytes = unsigned_of(limits, "log_bytes", spec.limits.log_bytes);
  spec.keep_s = std::min<std::uint64_t>(unsigned_of(value, "keep_s", spec.keep_s), 366ull * 24 * 3600);
  spec.submit_key = json_text(value, "submit_key");
  if (!spec.submit_key.empty() && !is_submit_key(spec.submit_key))
    return bad("has a submit key that is not 32 hex digits");
  const json& steps = json_at(value, "steps");
  if (!steps.is_array() || steps.empty() || steps.size() > 64)
    return bad("needs 1 to 64 steps");
  for (const json& each : steps) {
    RM_ASSIGN(JobStep step, step_from_json(each));
    for (const JobStep& other : spec.steps) {
      if (other.name == step.name)
        return bad("has two steps named '" + step.name + "'");
    }
    spec.steps.push_back(std::move(step));
  }
  return spec;
}

json to_json(const JobRecord& record) {
  json steps = json::array();
  for (const StepRecord& step : record.steps) {
    steps.push_back({{"name", step.name}, {"kind", step.kind}, {"state", step.state}, {"exit_code", optional_int(step.exit_code)}, {"signal", optional_int(step.signal)},
                     {"reason", step.reason}, {"seconds", step.seconds}, {"max_rss_bytes", step.max_rss_bytes}, {"stdout_bytes", step.stdout_bytes},
                     {"stderr_bytes", step.stderr_bytes}, {"dropped_bytes", step.dropped_bytes}});
  }
  json environment;
  if (record.environment) {
    const EnvironmentRecord& e = *record.environment;
    environment = {{"key", e.key}, {"reused", e.reused}, {"seconds", e.seconds}, {"python", e.python}, {"torch", e.torch}, {"log_bytes", e.log_bytes}};
  }
  return {{"version", 1},
          {"job", record.job},
          {"project", record.project},
          {"snapshot", record.snapshot},
          {"state", state_name(record.state)},
          {"reason", record.reason},
          {"submitted", record.submitted},
          {"started", text_or_null(record.started)},
          {"finished", text_or_null(record.finished)},
          {"environment", std::move(environment)},
          {"steps", std::move(steps)},
          {"network", record.network},
          {"environment_removed", record.environment_removed},
          {"expires", record.expires},
          {"boot_id", record.boot_id},
          {"daemon_version", record.daemon_version}};
}

Result<JobRecord> job_record_from_json(const json& value) {
  JobRecord record;
  record.job = json_text(value, "job");
  const auto state = state_from_name(json_text(value, "state"));
  if (!is_job_id(record.job) || !state)
    return Error(ErrorCode::protocol, "a job record is not usable (no valid id or state)");
  record.state = *state;
  record.project = clean_line(json_text(value, "project"), 200);
  record.snapshot = clean_line(json_text(value, "snapshot"), 64);
  record.reason = clean_line(json_text(value, "reason"), 2000);
  record.submitted = clean_line(json_text(value, "submitted"), 40);
  record.started = clean_line(json_text(value, "started"), 40);
  record.finished = clean_line(json_text(value, "finished"), 40);
  record.network = clean_line(json_text(value, "network"), 40);
  record.expires = clean_line(json_text(value, "expires"), 40);
  record.boot_id = clean_line(json_text(value, "boot_id"), 80);
  record.daemon_version = clean_line(json_text(value, "daemon_version"), 40);
  if (const json& e = json_at(value, "environment"); e.is_object())
    record.environment = EnvironmentRecord{clean_line(json_text(e, "key"), 64), json_flag(e, "reused"), json_number(e, "seconds"), clean_line(json_text(e, "python"), 1024),
                                           clean_line(json_text(e, "torch"), 64), unsigned_of(e, "log_bytes")};
  if (const json& removed = json_at(value, "environment_removed"); removed.is_object()) {
    for (auto it = removed.begin(); it != removed.end() && record.environment_removed.size() < 500; ++it) {
      if (it->is_string())
        record.environment_removed[clean_line(it.key(), 200)] = clean_line(it->get<std::string>(), 1000);
    }
  }
  if (const json& steps = json_at(value, "steps"); steps.is_array()) {
    for (const json& s : steps) {
      if (record.steps.size() >= 64)
        break;
      record.steps.push_back(StepRecord{clean_line(json_text(s, "name"), 32), clean_line(json_text(s, "kind"), 32), clean_line(json_text(s, "state"), 32), int_or_none(s, "exit_code"),
                                        int_or_none(s, "signal"), clean_line(json_text(s, "reason"), 200), json_number(s, "seconds"), unsigned_of(s, "max_rss_bytes"),
                                        unsigned_of(s, "stdout_bytes"), unsigned_of(s, "stderr_bytes"), unsigned_of(s, "dropped_bytes")});
    }
  }
  return record;
}

std::string new_job_id() { return job_id_of_key(random_hex(16)); }

std::string job_id_of_key(std::string_view submit_key) {
  constexpr char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
  const Digest digest = sha256(submit_key);
  std::string out = "j";
  for (std::size_t i = 0; i < 12; ++i)
    out += digits[digest.bytes[i] & 31u];
  return out;
}

bool is_job_id(std::string_view text) {
  return text.size() == 13 && text[0] == 'j' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

bool is_step_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

} // namespace remotemac
