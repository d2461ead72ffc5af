// The worker document: battery and replay.
#include "common/evidence.h"
#include "common/evidence_json.h"
#include "common/text.h"

namespace remotemac {
namespace {
using namespace evidence_json;

constexpr std::array k_groups{Named<GroupStatus>{GroupStatus::ok, "ok"}, Named<GroupStatus>{GroupStatus::crash, "crash"},
                              Named<GroupStatus>{GroupStatus::hang, "hang"}, Named<GroupStatus>{GroupStatus::error, "error"},
                              Named<GroupStatus>{GroupStatus::not_run, "not-run"}};
constexpr std::array k_findings{Named<FindingStatus>{FindingStatus::pass, "pass"},
                                Named<FindingStatus>{FindingStatus::note, "note"},
                                Named<FindingStatus>{FindingStatus::not_tested, "not-tested"},
                                Named<FindingStatus>{FindingStatus::fail, "fail"},
                                Named<FindingStatus>{FindingStatus::crash, "crash"},
                                Named<FindingStatus>{FindingStatus::hang, "hang"}};
constexpr std::array k_replays{Named<ReplayStatus>{ReplayStatus::native, "native"},
                               Named<ReplayStatus>{ReplayStatus::fallback, "fallback"},
                               Named<ReplayStatus>{ReplayStatus::unsupported, "unsupported"},
                               Named<ReplayStatus>{ReplayStatus::mismatch, "mismatch"},
                               Named<ReplayStatus>{ReplayStatus::crash, "crash"},
                               Named<ReplayStatus>{ReplayStatus::hang, "hang"},
                               Named<ReplayStatus>{ReplayStatus::not_tested, "not-tested"}};
constexpr std::array k_bands{Named<Band>{Band::equal, "equal"}, Named<Band>{Band::relaxed, "relaxed"},
                             Named<Band>{Band::outside, "outside"}};

std::optional<NumericError> error_of(const json& v) {
  if (!v.is_object())
    return std::nullopt;
  return NumericError{maybe_number(v, "max_abs"),
                      maybe_number(v, "max_rel"),
                      maybe_number(v, "reference_max_rel"),
                      value_in(k_bands, v, "band", Band::outside),
                      count(v, "mismatches"),
                      count(v, "elements")};
}
json error_json(const std::optional<NumericError>& e) {
  if (!e)
    return nullptr;
  return {{"max_abs", number(e->max_abs)}, {"max_rel", number(e->max_rel)}, {"reference_max_rel", number(e->reference_max_rel)},
          {"band", name_of(e->band)},      {"mismatches", e->mismatches},   {"elements", e->elements}};
}

WorkerGroup group_of(const json& g) {
  WorkerGroup out;
  out.name = name(g, "name");
  out.status = value_in(k_groups, g, "status", GroupStatus::error);
  out.signal = maybe_int(g, "signal");
  out.exit_code = maybe_int(g, "exit_code");
  out.seconds = seconds(g, "seconds");
  out.last_case = name(g, "last_case");
  out.stderr_tail = text(g, "stderr_tail");
  return out;
}
json group_json(const WorkerGroup& g) {
  return {{"name", g.name},
          {"status", name_of(g.status)},
          {"signal", or_null(g.signal)},
          {"exit_code", or_null(g.exit_code)},
          {"seconds", number(g.seconds)},
          {"last_case", g.last_case},
          {"stderr_tail", g.stderr_tail}};
}

// Lines of a program: each is cleaned for itself, because a program in one line does not run.
std::string program(const json& object, std::string_view key) {
  constexpr std::size_t k_max_lines = 200;
  const json& value = json_at(object, key);
  std::string out;
  std::size_t lines = 0;
  for (const std::string& line : split(value.is_string() ? value.get_ref<const std::string&>() : std::string(), '\n')) {
    if (lines++ == k_max_lines)
      break;
    out += (lines == 1 ? "" : "\n") + safe_text(line, k_max_text);
  }
  return out;
}

WorkerFinding finding_of(const json& f) {
  WorkerFinding out;
  out.id = name(f, "id");
  out.group = name(f, "group");
  out.op = name(f, "operator");
  out.case_name = name(f, "case");
  out.status = value_in(k_findings, f, "status", FindingStatus::not_tested);
  out.detail = text(f, "detail");
  out.reproduce = program(f, "reproduce");
  out.error = error_of(json_at(f, "error"));
  return out;
}
json finding_json(const WorkerFinding& f) {
  return {{"id", f.id},
          {"group", f.group},
          {"operator", f.op},
          {"case", f.case_name},
          {"status", name_of(f.status)},
          {"detail", f.detail},
          {"reproduce", f.reproduce},
          {"error", error_json(f.error)}};
}

ReplayedSignature replay_of(const json& r) {
  ReplayedSignature out;
  out.index = count(r, "index");
  out.op = name(r, "operator");
  out.calls = count(r, "calls");
  out.status = value_in(k_replays, r, "status", ReplayStatus::not_tested);
  out.detail = text(r, "detail");
  out.seconds_per_call = maybe_number(r, "seconds_per_call");
  out.error = error_of(json_at(r, "error"));
  return out;
}
json replay_json(const ReplayedSignature& r) {
  return {{"index", r.index},
          {"operator", r.op},
          {"calls", r.calls},
          {"status", name_of(r.status)},
          {"detail", r.detail},
          {"seconds_per_call", number(r.seconds_per_call)},
          {"error", error_json(r.error)}};
}

} // namespace

std::string_view name_of(GroupStatus value) {
  return name_in(k_groups, value);
}
std::string_view name_of(FindingStatus value) {
  return name_in(k_findings, value);
}
std::string_view name_of(ReplayStatus value) {
  return name_in(k_replays, value);
}
std::string_view name_of(Band value) {
  return name_in(k_bands, value);
}

Result<WorkerDocument> worker_document_from_json(const json& v) {
  if (!v.is_object() || json_text(v, "format") != "remotemac-worker")
    return Error(ErrorCode::corrupt, "the worker document is not one (its format is not remotemac-worker)", "run the job again");
  if (json_int(v, "version") != 1)
    return Error(ErrorCode::corrupt, "the worker document has a version that this program does not know",
                 "use the same remotemac on both sides: remotemac doctor");
  WorkerDocument out;
  out.kind = text(v, "kind", 40);
  out.torch_built_for = name(json_at(v, "torch"), "built_for");
  out.torch_running = name(json_at(v, "torch"), "running");
  out.device = text(v, "device", 40);
  out.simulated = {maybe_flag(json_at(v, "simulated"), "value"), text(json_at(v, "simulated"), "reason")};
  out.profile = text(v, "profile", 40);
  out.groups = list<WorkerGroup>(v, "groups", group_of);
  out.findings = list<WorkerFinding>(v, "findings", finding_of);
  out.replay = list<ReplayedSignature>(v, "replay", replay_of);
  out.counts = count_map(v, "counts");
  return out;
}

json to_json(const WorkerDocument& d) {
  return {{"format", "remotemac-worker"},
          {"version", 1},
          {"kind", d.kind},
          {"torch", {{"built_for", d.torch_built_for}, {"running", d.torch_running}}},
          {"device", d.device},
          {"simulated", {{"value", or_null(d.simulated.value)}, {"reason", d.simulated.reason}}},
          {"profile", d.profile},
          {"groups", array_of(d.groups, group_json)},
          {"findings", array_of(d.findings, finding_json)},
          {"replay", array_of(d.replay, replay_json)},
          {"counts", d.counts}};
}

} // namespace remotemac
