#include "cli/workflow.h"

#include "cli/audit.h"
#include "cli/collect.h"
#include "common/evidence.h"
#include "common/json.h"
#include "common/text.h"
#include "policies/judge_cache.h"
#include "policies/rule_file.h"
#include "sync/submit.h"
#include "sync/uploader.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace remotemac::cli {
namespace {
using nlohmann::json;

constexpr const char* k_outgoing_hint = "take it out of [run] in remotemac.toml (a secret belongs on neither side of a mini-run); look with: remotemac plan";

policies::HostConditions conditions_of(const HostRecord& host) {
  policies::HostConditions out;
  out.name = host.name;
  out.region = host.region;
  out.operator_name = host.operator_name;
  out.operator_country = host.operator_country;
  out.contract_id = host.contract_id;
  out.contract_until = host.contract_until;
  out.lease_end = host.lease_end;
  out.is_local = host.is_local();
  return out;
}

std::string host_key_of(const Session& session, const HostRecord& host) {
  if (const auto* ssh = dynamic_cast<const sync::SshTransport*>(session.transport.get()))
    return ssh->host_key().fingerprint;
  return host.is_local() ? "this machine" : "";
}

Result<std::string> submit(Context& context, const HostRecord& host, Session& session, const JobSpec& spec) {
  if (const OutgoingVerdict outgoing = judge_outgoing(spec); !outgoing.allowed) // stopped long before; the last look before it leaves
    return Error(ErrorCode::refused, "the run's command or environment must not leave: " + outgoing.reason, k_outgoing_hint);
  const sync::Reconnect reconnect = [&]() -> Result<sync::RemoteClient*> {
    RM_ASSIGN(Session again, open_session(context, host));
    session.client.reset(); // before the transport that it uses
    session = std::move(again);
    return session.client.get();
  };
  return sync::submit_once(*session.client, spec, reconnect);
}

Result<JobDone> follow_and_collect(Context& context, const ProjectFile& project, const HostRecord& host, RunStore& store, RunInfo info, Session& session) {
  RM_ASSIGN(const Followed followed, follow_job(context, host, session, info.job));
  if (followed.end == FollowEnd::detached) {
    context.out.line("Job " + info.job + " goes on at host " + host.name + ".");
    context.out.line(comeback_text(info.job, host.name));
    return JobDone{std::move(info), JobEnd::detached};
  }
  if (followed.end == FollowEnd::cancelled) {
    info.state = "cancelled";
    RM_TRY(store.save(info));
    context.out.line("Job " + info.job + " is cancelled. Its logs stay at host " + host.name + " until it expires: remotemac logs " + info.job + " --host " + host.name);
    return JobDone{std::move(info), JobEnd::cancelled};
  }
  context.interrupts.set_situation("job " + info.job + " has ended; what it left stays at host " + host.name + " until it expires", comeback_text(info.job, host.name));
  // What to ask for follows from the plan, not from what the far side says it has.
  RM_ASSIGN(const Digest snapshot, Digest::from_hex(info.snapshot));
  const bool replay = json_flag(info.parts, "with_replay");
  JobSpec spec = info.kind == RunKind::run ? plan_run(project, host, snapshot, replay ? WithReplay::yes : WithReplay::no) : plan_reference(project, host, snapshot);
  spec.limits.log_bytes = static_cast<std::uint64_t>(json_int(info.parts, "log_limit", static_cast<std::int64_t>(spec.limits.log_bytes))); // as submitted; the file may have changed
  context.out.phase("collect", "evidence, outputs, logs");
  Result<Collected> fetched = collect_job(context, session, info.job, spec, store.folder(info));
  if (!fetched) {
    Error error = std::move(fetched).error_while("bringing back what job " + info.job + " left");
    error.set_hint((error.hint().empty() ? std::string("nothing is lost there") : error.hint()) + "; " + comeback_text(info.job, host.name));
    return error;
  }
  const Collected& collected = *fetched;
  context.out.phase_done(std::to_string(collected.files) + " files, " + human_bytes(collected.bytes) + (collected.missing.empty() ? "" : ", " + std::to_string(collected.missing.size()) + " missing"));
  info.parts["job"] = to_json(followed.record);
  info.parts["missing"] = collected.missing;
  info.state = "collected";
  RM_TRY(store.save(info));
  context.interrupts.set_situation("the results of job " + info.job + " are here", "remotemac report");
  return JobDone{std::move(info), JobEnd::collected};
}

// Counts only: which files were refused is told by `remotemac plan`, and never becomes part of a run's record.
json gate_summary(const policies::Judgement& judgement, const ProjectFile& project) {
  GateSummary out;
  out.decision = "allowed";
  out.approved_files = judgement.totals.approved;
  out.approved_bytes = judgement.totals.approved_bytes;
  out.refused_files = judgement.totals.refused;
  out.excluded_files = judgement.totals.excluded;
  out.not_proposed_files = judgement.totals.not_proposed;
  out.layers = {"built-in", "project"};
  out.policy_digest = judgement.policy_digest;
  out.retention_s = project.keep_s;
  std::map<std::string, GateClassCount> classes;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> rules;
  for (const policies::FileDecision& decision : judgement.decisions) {
    ++rules[{decision.rule, decision.layer, std::string(policies::name_of(decision.verdict))}];
    if (decision.verdict != policies::FileVerdict::approved)
      continue;
    GateClassCount& count = classes[decision.data_class];
    count.name = decision.data_class;
    ++count.files;
    count.bytes += decision.size_bytes;
  }
  for (auto& [name, count] : classes)
    out.classes.push_back(std::move(count));
  for (const auto& [key, files] : rules)
    out.rules.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), files});
  return to_json(out);
}
} // namespace

std::string project_digest(const Manifest& manifest) {
  Manifest own;
  for (const ManifestFile& file : manifest.files) {
    if (file.path.text() != k_recording_path)
      own.files.push_back(file);
  }
  return own.digest().hex();
}

Result<policies::Judgement> judge_project(Context& context, const ProjectFile& project, const HostRecord& host, const std::vector<policies::GeneratedFile>& generated) {
  context.out.phase("gate", "judging files for host " + host.name);
  RM_ASSIGN(const policies::ProjectPolicy policy, policies::parse_project_policy(project.file_text, k_project_file_name));
  const std::unique_ptr<policies::JudgeCache> cache = policies::open_judge_cache(context.paths.cache / "judge.sqlite");
  policies::JudgeRequest request;
  request.root = project.root;
  request.policy = &policy;
  request.host = conditions_of(host);
  request.purpose = project.purpose;
  request.now = context.clock.now();
  request.generated = generated;
  request.cache = cache.get();
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    context.out.phase_progress(done, total, "files");
    return !context.interrupts.stop_asked();
  };
  RM_ASSIGN_WHILE("judging the project's files", policies::Judgement judgement, policies::judge(request));
  context.out.phase_done(std::to_string(judgement.totals.approved) + " files approved (" + human_bytes(judgement.totals.approved_bytes) + "), " + std::to_string(judgement.totals.refused) + " refused, " +
                         std::to_string(judgement.totals.excluded) + " excluded, " + std::to_string(judgement.totals.not_proposed) + " not proposed");
  return judgement;
}

Result<void> stop_if_refused(Context& context, const ProjectFile& project, const HostRecord& host, const policies::Judgement& judgement) {
  const OutgoingVerdict outgoing = judge_outgoing(project);
  if (judgement.totals.refused == 0 && judgement.totals.approved > 0 && outgoing.allowed)
    return ok();
  RM_TRY(audit_refusal(context, host, judgement, outgoing, project.purpose, project.name));
  std::size_t shown = 0;
  for (const policies::FileDecision& decision : judgement.decisions) {
    if (decision.verdict != policies::FileVerdict::refused)
      continue;
    if (++shown > 10)
      break;
    context.out.note("refused     " + clean_line(decision.path) + ": " + clean_line(decision.reason) + "  [" + decision.rule + "]");
  }
  if (!outgoing.allowed) {
    context.out.note("refused     command and environment: " + clean_line(outgoing.reason));
    return Error(ErrorCode::refused, "the run's command or environment" + (judgement.totals.refused > 0 ? " and " + std::to_string(judgement.totals.refused) + " declared files" : std::string()) + " must not leave; nothing was sent, no connection was made", k_outgoing_hint);
  }
  if (judgement.totals.refused == 0)
    return Error(ErrorCode::refused, "nothing may leave: no file of this project is declared and allowed", "declare in remotemac.toml what may leave ([[data]]), then look at: remotemac plan");
  return Error(ErrorCode::refused, std::to_string(judgement.totals.refused) + " declared files must not leave; nothing was sent, no connection was made",
               "exclude them ([[exclude]] paths in remotemac.toml) or narrow include; the whole list: remotemac plan");
}

Result<JobDone> run_job(Context& context, const ProjectFile& project, const HostRecord& host, const JobRequest& request) {
  RM_ASSIGN(const policies::Judgement judgement, judge_project(context, project, host, request.generated));
  RM_TRY(stop_if_refused(context, project, host, judgement));
  const JobSpec spec = request.plan(host, judgement.approved.manifest().digest());
  RM_ASSIGN(RunStore store, RunStore::open(project.root));
  RM_ASSIGN(RunInfo info, store.create(request.kind, host.name, rfc3339(context.clock.now())));
  const Manifest& manifest = judgement.approved.manifest();
  info.snapshot = manifest.digest().hex();
  info.project_digest = project_digest(manifest);
  info.parts["survey"] = request.survey;
  info.parts["gate_summary"] = gate_summary(judgement, project);
  info.parts["command"] = project.command;
  info.parts["env"] = project.env;
  info.parts["with_replay"] = !request.generated.empty();
  info.parts["log_limit"] = project.limits.log_bytes;
  RM_TRY(store.save(info));

  context.out.phase("connect", host.is_local() ? "this machine" : host.destination);
  RM_ASSIGN_WHILE("connecting to host " + host.name, Session session, open_session(context, host));
  RM_ASSIGN(info.parts["host"], session.client->host_facts());
  context.out.phase_done(session.transport->describe() + ", daemon " + session.client->daemon_version());

  context.interrupts.set_situation("what was sent so far stays on the host until it expires; the audit log has it", "run the same command again: what the host has already is not sent twice");
  context.out.phase("sync", human_bytes(manifest.total_bytes()));
  sync::PushOptions push;
  push.before_first_byte = [&]() { return audit_transfer_allowed(context, host, host_key_of(session, host), judgement, project.purpose, project.name); };
  push.progress = [&](std::uint64_t done, std::uint64_t total) {
    context.out.phase_progress(done, total, "B");
    return !context.interrupts.stop_asked();
  };
  RM_ASSIGN_WHILE("sending to host " + host.name, const sync::PushReport pushed, sync::push(*session.client, judgement.approved, push));
  RM_TRY(audit_transfer_finished(context, host, info.snapshot, pushed.bytes_sent, pushed.chunks_sent));
  info.parts["transfer"] = {{"files", pushed.files}, {"bytes_total", pushed.bytes_total}, {"bytes_sent", pushed.bytes_sent}, {"chunks_sent", pushed.chunks_sent}, {"chunks_present", pushed.chunks_present}, {"seconds", pushed.seconds}, {"snapshot", info.snapshot}, {"audited", true}};
  context.out.phase_done(std::to_string(pushed.files) + " files, " + human_bytes(pushed.bytes_sent) + " sent, " + std::to_string(pushed.chunks_present) + " chunks were there already");

  RM_ASSIGN_WHILE("submitting the job", info.job, submit(context, host, session, spec));
  info.state = "submitted";
  RM_TRY(store.save(info));
  RM_TRY(remember_job(context.paths, {info.job, host.name, project.root, info.id, info.kind}));
  if (request.wait == WaitForJob::detach) {
    context.out.line("Job " + info.job + " was submitted to host " + host.name + ".");
    context.out.line(comeback_text(info.job, host.name));
    return JobDone{std::move(info), JobEnd::submitted};
  }
  return follow_and_collect(context, project, host, store, std::move(info), session);
}

Result<JobDone> resume_job(Context& context, const ProjectFile& project, const HostRecord& host, RunInfo info) {
  RM_ASSIGN(RunStore store, RunStore::open(project.root));
  context.out.phase("connect", host.is_local() ? "this machine" : host.destination);
  RM_ASSIGN_WHILE("connecting to host " + host.name, Session session, open_session(context, host));
  context.out.phase_done(session.transport->describe());
  return follow_and_collect(context, project, host, store, std::move(info), session);
}

} // namespace remotemac::cli
