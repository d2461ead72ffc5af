#include "cli/audit.h"

#include "common/text.h"
#include "common/version.h"

#include <map>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
using nlohmann::json;

Result<void> append(Context& context, const std::string& type, json fields) {
  PosixFileSystem disk;
  policies::AuditLog log(disk, audit_folder(context));
  fields["program"] = std::string("remotemac ") + k_version;
  RM_TRY_WHILE("recording what happens in the audit log", log.append(type, rfc3339(context.clock.now()), fields));
  return ok();
}

json host_fields(const HostRecord& host) {
  return {{"name", host.name}, {"local", host.is_local()}, {"fingerprints", host.fingerprints}, {"region", host.region}, {"operator", host.operator_name}, {"operator_country", host.operator_country},
          {"contract_id", host.contract_id}, {"contract_until", host.contract_until}, {"lease_end", host.lease_end}};
}

json class_counts(const policies::Judgement& judgement) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const policies::FileDecision& decision : judgement.decisions) {
    if (decision.verdict != policies::FileVerdict::approved)
      continue;
    ++counts[decision.data_class].first;
    counts[decision.data_class].second += decision.size_bytes;
  }
  json out = json::object();
  for (const auto& [name, count] : counts)
    out[name] = {{"files", count.first}, {"bytes", count.second}};
  return out;
}

// How often which rule refused, and what was found: kinds and counts, no names.
json refusals(const policies::Judgement& judgement) {
  std::map<std::string, std::uint64_t> rules;
  std::map<std::string, std::uint64_t> findings;
  for (const policies::FileDecision& decision : judgement.decisions) {
    if (decision.verdict != policies::FileVerdict::refused)
      continue;
    ++rules[decision.rule];
    for (const policies::Finding& finding : decision.findings)
      findings[finding.detector] += finding.count;
  }
  return {{"rules", rules}, {"findings", findings}};
}

json totals(const policies::Judgement& judgement) {
  const policies::Totals& all = judgement.totals;
  return {{"approved", all.approved}, {"approved_bytes", all.approved_bytes}, {"refused", all.refused}, {"excluded", all.excluded}, {"not_proposed", all.not_proposed}};
}
} // namespace

std::filesystem::path audit_folder(const Context& context) { return context.paths.state / "audit"; }

Result<void> audit_host_change(Context& context, AuditHostChange change, const HostRecord& host, const std::string& note) {
  json fields{{"host", host_fields(host)}};
  if (!note.empty())
    fields["note"] = note;
  return append(context, change == AuditHostChange::added ? "host-added" : "host-removed", std::move(fields));
}

Result<void> audit_transfer_allowed(Context& context, const HostRecord& host, const std::string& host_key, const policies::Judgement& judgement, const std::string& purpose, const std::string& project) {
  PosixFileSystem disk;
  policies::AuditLog log(disk, audit_folder(context));
  RM_ASSIGN_WHILE("recording what happens in the audit log", const std::string list, log.store_file_list(judgement));
  return append(context, "transfer-allowed",
                {{"host", host_fields(host)}, {"host_key", host_key}, {"snapshot", judgement.approved.manifest().digest().hex()}, {"file_list", list}, {"classes", class_counts(judgement)}, {"totals", totals(judgement)},
                 {"policy_digest", judgement.policy_digest}, {"layers", {"built-in", "project"}}, {"purpose", purpose}, {"project", project}});
}

Result<void> audit_transfer_finished(Context& context, const HostRecord& host, const std::string& snapshot, std::uint64_t sent_bytes, std::uint64_t chunks) {
  return append(context, "transfer-finished", {{"host", {{"name", host.name}, {"local", host.is_local()}}}, {"snapshot", snapshot}, {"bytes_sent", sent_bytes}, {"chunks_sent", chunks}});
}

Result<void> audit_refusal(Context& context, const HostRecord& host, const policies::Judgement& judgement, const OutgoingVerdict& outgoing, const std::string& purpose, const std::string& project) {
  json fields{{"host", host_fields(host)}, {"refusals", refusals(judgement)}, {"totals", totals(judgement)}, {"policy_digest", judgement.policy_digest}, {"purpose", purpose}, {"project", project}};
  if (!outgoing.allowed)
    fields["command_refused"] = outgoing.kinds;
  return append(context, "transfer-refused", std::move(fields));
}

} // namespace remotemac::cli
