// The evidence file as a whole.
#include "common/evidence.h"

#include "common/evidence_json.h"

namespace remotemac {
namespace {
using namespace evidence_json;

// A part that cannot be read becomes absent with the reason.
template <typename T, typename Read>
void take(const json& v, std::string_view part, std::optional<T>& into, Evidence& evidence, Read read) {
  const json& value = json_at(v, part);
  if (value.is_null())
    return;
  Result<T> parsed = read(value);
  if (parsed)
    into = std::move(*parsed);
  else
    evidence.absent[std::string(part)] = safe_text(parsed.error().message(), k_max_text);
}

// For the readers that cannot fail: still, a part that is not an object is not one.
template <typename T, T (*Read)(const json&)> Result<T> object_of(const json& value) {
  if (!value.is_object())
    return Error(ErrorCode::corrupt, "it is not an object");
  return Read(value);
}

// A job record is shown to its owner in full elsewhere; evidence is passed on, so folders of the host are shortened here.
JobRecord safe_job(JobRecord job) {
  for (std::string* each : {&job.project, &job.snapshot, &job.reason, &job.submitted, &job.started, &job.finished, &job.network,
                            &job.expires, &job.boot_id, &job.daemon_version})
    *each = safe_text(*each);
  if (job.environment) {
    for (std::string* each : {&job.environment->key, &job.environment->python, &job.environment->torch})
      *each = safe_text(*each);
  }
  for (StepRecord& step : job.steps) {
    for (std::string* each : {&step.name, &step.kind, &step.state, &step.reason})
      *each = safe_text(*each);
  }
  std::map<std::string, std::string> removed;
  for (const auto& [variable, value] : job.environment_removed)
    removed.emplace(safe_text(variable), safe_text(value));
  job.environment_removed = std::move(removed);
  return job;
}
json job_json(const std::optional<JobRecord>& job) {
  return job ? to_json(safe_job(*job)) : json(nullptr);
}

Result<JobRecord> job_of(const json& value) {
  RM_ASSIGN(JobRecord job, job_record_from_json(value));
  return safe_job(std::move(job));
}

ReferenceFacts reference_of(const json& v, Evidence& evidence) {
  ReferenceFacts out;
  out.root_digest = text(v, "root_digest", 80);
  if (Result<JobRecord> job = job_of(json_at(v, "job")))
    out.job = std::move(*job);
  if (json_at(v, "host_facts").is_object())
    out.host_facts = host_facts_from_json(json_at(v, "host_facts"));
  if (!json_at(v, "run").is_null()) {
    if (Result<HarnessDocument> run = harness_document_from_json(json_at(v, "run")))
      out.run = std::move(*run);
    else
      evidence.absent["reference.run"] = run.error().message();
  }
  return out;
}

template <typename T> json part(const std::optional<T>& value) {
  return value ? to_json(*value) : json(nullptr);
}

} // namespace

Result<Evidence> evidence_from_json(const json& v) {
  if (!v.is_object() || json_text(v, "format") != "remotemac-evidence")
    return Error(ErrorCode::corrupt, "the evidence file is not one (its format is not remotemac-evidence)");
  if (json_int(v, "version") != 1)
    return Error(ErrorCode::corrupt, "the evidence file has a version that this program does not know",
                 "read it with the remotemac that wrote it, or a newer one");
  Evidence out;
  out.absent = text_map(v, "absent");
  const json& run = json_at(v, "run");
  out.run = {name(run, "id"), text(run, "started", 40), text(run, "finished", 40), text(run, "remotemac_version", 40),
             name(run, "host")};
  const json& project = json_at(v, "project");
  out.project = {name(project, "name"), text(project, "purpose", 40), text(project, "root_digest", 80),
                 text(project, "scale", 40)};
  take(v, "survey", out.survey, out, survey_from_json);
  take(v, "gate", out.gate, out, object_of<GateSummary, gate_summary_from_json>);
  take(v, "host", out.host, out, object_of<HostFacts, host_facts_from_json>);
  take(v, "transfer", out.transfer, out, object_of<TransferFacts, transfer_facts_from_json>);
  take(v, "job", out.job, out, job_of);
  take(v, "backend", out.backend, out, harness_document_from_json);
  take(v, "battery", out.battery, out, worker_document_from_json);
  take(v, "replay", out.replay, out, worker_document_from_json);
  take(v, "strict", out.strict, out, harness_document_from_json);
  take(v, "permissive", out.permissive, out, harness_document_from_json);
  take(v, "comparison", out.comparison, out, object_of<Comparison, comparison_from_json>);
  if (json_at(v, "reference").is_object())
    out.reference = reference_of(json_at(v, "reference"), out);
  else if (!json_at(v, "reference").is_null())
    out.absent["reference"] = "it is not an object";
  if (const json& b = json_at(v, "broke_off"); b.is_object())
    out.broke_off = BrokeOff{name(b, "stage"), name(b, "code"), text(b, "reason"), text(b, "hint")};
  return out;
}

json to_json(const Evidence& e) {
  json reference;
  if (e.reference)
    reference = {{"root_digest", e.reference->root_digest},
                 {"job", job_json(e.reference->job)},
                 {"host_facts", part(e.reference->host_facts)},
                 {"run", part(e.reference->run)}};
  json broke_off;
  if (e.broke_off)
    broke_off = {
        {"stage", e.broke_off->stage}, {"code", e.broke_off->code}, {"reason", e.broke_off->reason}, {"hint", e.broke_off->hint}};
  return {{"format", "remotemac-evidence"},
          {"version", 1},
          {"run",
           {{"id", e.run.id},
            {"started", e.run.started},
            {"finished", e.run.finished},
            {"remotemac_version", e.run.remotemac_version},
            {"host", e.run.host}}},
          {"project",
           {{"name", e.project.name},
            {"purpose", e.project.purpose},
            {"root_digest", e.project.root_digest},
            {"scale", e.project.scale}}},
          {"survey", part(e.survey)},
          {"gate", part(e.gate)},
          {"host", part(e.host)},
          {"transfer", part(e.transfer)},
          {"job", job_json(e.job)},
          {"backend", part(e.backend)},
          {"battery", part(e.battery)},
          {"replay", part(e.replay)},
          {"strict", part(e.strict)},
          {"permissive", part(e.permissive)},
          {"reference", std::move(reference)},
          {"comparison", part(e.comparison)},
          {"broke_off", std::move(broke_off)},
          {"absent", e.absent}};
}

} // namespace remotemac
