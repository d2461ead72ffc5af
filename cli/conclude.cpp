#include "cli/conclude.h"

#include "cli/compare/compare.h"
#include "cli/report/report.h"
#include "common/file_system.h"
#include "common/json.h"
#include "common/text.h"
#include "common/version.h"

#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
using nlohmann::json;

constexpr std::uint64_t k_max_document_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t k_max_output_bytes = std::uint64_t{2} << 30;

// Why a step left no document, from the job's own record.
std::string why_missing(const RunInfo& info, const std::string& step) {
  const json& steps = json_at(json_at(info.parts, "job"), "steps");
  if (steps.is_array()) {
    for (const json& each : steps) {
      if (json_text(each, "name") == step)
        return "step " + step + " ended with '" + clean_line(json_text(each, "reason", "nothing"), 80) + "' and left no document";
    }
  }
  const std::string reason = clean_line(json_text(json_at(info.parts, "job"), "reason"), 300);
  return reason.empty() ? "step " + step + " was not made" : reason;
}

Result<json> read_document(const std::filesystem::path& folder, const RunInfo& info, const std::string& step) {
  PosixFileSystem disk;
  const std::filesystem::path file = folder / "evidence" / (step + ".json");
  if (!disk.exists(file))
    return Error(ErrorCode::no_run, why_missing(info, step));
  RM_ASSIGN(const std::string text, disk.read_file(file, k_max_document_bytes));
  return parse_json(text, "the document of step " + step);
}

void take_harness(const std::filesystem::path& folder, const RunInfo& info, const std::string& step, std::optional<HarnessDocument>& into, Evidence& evidence) {
  const Result<json> document = read_document(folder, info, step);
  Result<HarnessDocument> parsed = document ? harness_document_from_json(*document) : Result<HarnessDocument>(document.error());
  if (parsed)
    into = std::move(*parsed);
  else
    evidence.absent[step] = parsed.error().message();
}

void take_worker(const std::filesystem::path& folder, const RunInfo& info, const std::string& step, std::optional<WorkerDocument>& into, Evidence& evidence) {
  const Result<json> document = read_document(folder, info, step);
  Result<WorkerDocument> parsed = document ? worker_document_from_json(*document) : Result<WorkerDocument>(document.error());
  if (parsed)
    into = std::move(*parsed);
  else
    evidence.absent[step] = parsed.error().message();
}

compare::Files outputs_of(const std::filesystem::path& folder, const std::string& step, const ProjectFile& project) {
  PosixFileSystem disk;
  compare::Files files;
  for (const RelPath& name : project.outputs) {
    Result<std::string> bytes = disk.read_file(folder / "outputs" / step / name.text(), k_max_output_bytes);
    if (bytes)
      files[name.text()] = std::move(*bytes);
  }
  return files;
}

void take_reference(const ProjectFile& project, RunStore& store, const RunInfo& info, Evidence& evidence) {
  const std::optional<RunInfo> found = fitting_reference(store, project, info.project_digest);
  if (!found) {
    evidence.absent["reference"] = "there is no reference run of these project files; make one with: remotemac reference";
    return;
  }
  ReferenceFacts facts;
  facts.root_digest = found->project_digest;
  if (Result<JobRecord> job = job_record_from_json(json_at(found->parts, "job")))
    facts.job = std::move(*job);
  facts.host_facts = host_facts_from_json(json_at(found->parts, "host"));
  take_harness(store.folder(*found), *found, "reference", facts.run, evidence);
  evidence.reference = std::move(facts);
  const HarnessDocument* of_run = evidence.strict ? &*evidence.strict : evidence.permissive ? &*evidence.permissive : nullptr;
  if (of_run == nullptr || !evidence.reference->run) {
    evidence.absent["comparison"] = of_run == nullptr ? "no mini-run on the host left a document" : "the reference run left no document";
    return;
  }
  // The strict run is the one to compare; where it broke off for a missing operation, the permissive one may still have outputs.
  const bool strict_serves = evidence.strict && (evidence.strict->missing_outputs.empty() || !evidence.permissive);
  const std::string step = strict_serves ? "strict" : "permissive";
  if (!strict_serves)
    of_run = &*evidence.permissive;
  compare::Input input;
  input.run = of_run;
  input.reference = &*evidence.reference->run;
  input.run_files = outputs_of(store.folder(info), step, project);
  input.reference_files = outputs_of(store.folder(*found), "reference", project);
  input.same_project = found->project_digest == info.project_digest;
  input.same_command = json_at(found->parts, "command") == json_at(info.parts, "command") && json_at(found->parts, "env") == json_at(info.parts, "env");
  for (const RelPath& name : project.outputs)
    input.names.push_back(name.text());
  for (const auto& [key, tolerance] : project.tolerances)
    input.tolerances[key] = {tolerance.absolute, tolerance.relative};
  evidence.comparison = compare::compare(input);
}

Evidence assemble(Context& context, const ProjectFile& project, RunStore& store, const RunInfo& info) {
  Evidence evidence;
  evidence.run = {info.id, info.created, rfc3339(context.clock.now()), k_version, info.host};
  evidence.project.name = project.name;
  evidence.project.purpose = project.purpose;
  evidence.project.scale = project.scale;
  evidence.project.root_digest = info.project_digest;
  const std::filesystem::path folder = store.folder(info);
  if (Result<Survey> survey = survey_from_json(json_at(info.parts, "survey")))
    evidence.survey = std::move(*survey);
  else
    evidence.absent["survey"] = survey.error().message();
  if (json_at(info.parts, "gate_summary").is_object())
    evidence.gate = gate_summary_from_json(json_at(info.parts, "gate_summary"));
  if (json_at(info.parts, "host").is_object())
    evidence.host = host_facts_from_json(json_at(info.parts, "host"));
  if (json_at(info.parts, "transfer").is_object())
    evidence.transfer = transfer_facts_from_json(json_at(info.parts, "transfer"));
  if (Result<JobRecord> job = job_record_from_json(json_at(info.parts, "job")))
    evidence.job = std::move(*job);
  take_harness(folder, info, "backend", evidence.backend, evidence);
  take_worker(folder, info, "battery", evidence.battery, evidence);
  if (json_flag(info.parts, "with_replay"))
    take_worker(folder, info, "replay", evidence.replay, evidence);
  else
    evidence.absent["replay"] = "there was no recording of a reference run";
  take_harness(folder, info, "strict", evidence.strict, evidence);
  take_harness(folder, info, "permissive", evidence.permissive, evidence);
  take_reference(project, store, info, evidence);
  if (evidence.job && (evidence.job->state == JobState::lost || evidence.job->state == JobState::cancelled))
    evidence.broke_off = BrokeOff{"job", std::string(state_name(evidence.job->state)), evidence.job->reason.empty() ? "the job is " + std::string(state_name(evidence.job->state)) : evidence.job->reason, "run again"};
  if (evidence.job && evidence.job->state == JobState::failed && !evidence.strict && !evidence.permissive && !evidence.backend)
    evidence.broke_off = BrokeOff{"environment", "environment", evidence.job->reason, "remotemac logs " + evidence.job->job + " --step environment"};
  return evidence;
}
} // namespace

std::optional<RunInfo> fitting_reference(RunStore& store, const ProjectFile& project, const std::string& digest) {
  for (RunInfo& info : store.list(RunKind::reference)) {
    const bool done = info.state == "collected" || info.state == "judged";
    if (done && info.project_digest == digest && json_at(info.parts, "command") == json(project.command) && json_at(info.parts, "env") == json(project.env) &&
        json_text(json_at(info.parts, "job"), "state") == "succeeded")
      return std::move(info);
  }
  return std::nullopt;
}

Result<Concluded> conclude_run(Context& context, const ProjectFile& project, RunStore& store, RunInfo info) {
  PosixFileSystem disk;
  Evidence evidence = assemble(context, project, store, info);
  verdict::Verdict verdict = verdict::judge(evidence);
  const std::filesystem::path folder = store.folder(info);
  RM_TRY(disk.write_atomic(folder / "evidence.json", dump_json(to_json(evidence)), 0600));
  RM_TRY(disk.write_atomic(folder / "report.json", dump_json(report::to_json(evidence, verdict)), 0600));
  RM_TRY(disk.write_atomic(folder / "report.md", report::to_markdown(evidence, verdict), 0600));
  info.state = "judged";
  RM_TRY(store.save(info));
  return Concluded{std::move(evidence), std::move(verdict)};
}

} // namespace remotemac::cli
