// The smaller parts of the evidence: host facts, gate summary, transfer, comparison.
#include "common/evidence.h"
#include "common/evidence_json.h"

namespace remotemac {
namespace {
using namespace evidence_json;

constexpr std::array k_conditions{Named<ConditionStatus>{ConditionStatus::same, "same"},
                                  Named<ConditionStatus>{ConditionStatus::different, "different"},
                                  Named<ConditionStatus>{ConditionStatus::missing, "missing"}};
constexpr std::array k_weights{Named<ConditionWeight>{ConditionWeight::decides, "decides"},
                               Named<ConditionWeight>{ConditionWeight::noted, "noted"}};
constexpr std::array k_outputs{Named<OutputStatus>{OutputStatus::equal, "equal"},
                               Named<OutputStatus>{OutputStatus::relaxed, "relaxed"},
                               Named<OutputStatus>{OutputStatus::outside, "outside"},
                               Named<OutputStatus>{OutputStatus::shape_differs, "shape-differs"},
                               Named<OutputStatus>{OutputStatus::type_differs, "type-differs"},
                               Named<OutputStatus>{OutputStatus::missing_in_run, "missing-in-run"},
                               Named<OutputStatus>{OutputStatus::missing_in_reference, "missing-in-reference"},
                               Named<OutputStatus>{OutputStatus::unreadable, "unreadable"},
                               Named<OutputStatus>{OutputStatus::not_compared, "not-compared"}};
constexpr std::array k_alike{Named<Alikeness>{Alikeness::alike, "alike"}, Named<Alikeness>{Alikeness::unlike, "unlike"},
                             Named<Alikeness>{Alikeness::unknown, "unknown"}};

ConditionPair condition_of(const json& c) {
  ConditionPair out;
  out.name = name(c, "name");
  out.run = text(c, "run");
  out.reference = text(c, "reference");
  out.status = value_in(k_conditions, c, "status", ConditionStatus::missing);
  out.weight = value_in(k_weights, c, "weight", ConditionWeight::decides);
  out.note = text(c, "note");
  return out;
}
json condition_json(const ConditionPair& c) {
  return {
      {"name", c.name}, {"run", c.run}, {"reference", c.reference}, {"status", name_of(c.status)}, {"weight", name_of(c.weight)},
      {"note", c.note}};
}

OutputPair output_of(const json& o) {
  OutputPair out;
  out.file = path(o, "file");
  out.key = name(o, "key");
  out.dtype = text(o, "dtype", 40);
  out.shape_run = name(o, "shape_run");
  out.shape_reference = name(o, "shape_reference");
  out.status = value_in(k_outputs, o, "status", OutputStatus::not_compared);
  out.elements = count(o, "elements");
  out.mismatches = count(o, "mismatches");
  out.max_abs = maybe_number(o, "max_abs");
  out.max_rel = maybe_number(o, "max_rel");
  out.first_index = maybe_count(o, "first_index");
  out.nan_run = count(o, "nan_run");
  out.nan_reference = count(o, "nan_reference");
  out.nan_pattern_differs = json_flag(o, "nan_pattern_differs");
  out.tolerance_abs = maybe_number(o, "tolerance_abs");
  out.tolerance_rel = maybe_number(o, "tolerance_rel");
  out.tolerance_source = text(o, "tolerance_source", 40);
  out.detail = text(o, "detail");
  return out;
}
json output_json(const OutputPair& o) {
  return {{"file", o.file},
          {"key", o.key},
          {"dtype", o.dtype},
          {"shape_run", o.shape_run},
          {"shape_reference", o.shape_reference},
          {"status", name_of(o.status)},
          {"elements", o.elements},
          {"mismatches", o.mismatches},
          {"max_abs", number(o.max_abs)},
          {"max_rel", number(o.max_rel)},
          {"first_index", or_null(o.first_index)},
          {"nan_run", o.nan_run},
          {"nan_reference", o.nan_reference},
          {"nan_pattern_differs", o.nan_pattern_differs},
          {"tolerance_abs", number(o.tolerance_abs)},
          {"tolerance_rel", number(o.tolerance_rel)},
          {"tolerance_source", o.tolerance_source},
          {"detail", o.detail}};
}

} // namespace

std::string_view name_of(ConditionStatus value) {
  return name_in(k_conditions, value);
}
std::string_view name_of(ConditionWeight value) {
  return name_in(k_weights, value);
}
std::string_view name_of(OutputStatus value) {
  return name_in(k_outputs, value);
}
std::string_view name_of(Alikeness value) {
  return name_in(k_alike, value);
}

HostFacts host_facts_from_json(const json& v) {
  HostFacts out;
  out.os = name(v, "os");
  out.os_version = name(v, "os_version");
  out.arch = name(v, "arch");
  out.chip = name(v, "chip");
  out.model = name(v, "model");
  out.memory_bytes = maybe_count(v, "memory_bytes");
  out.disk_free_bytes = maybe_count(v, "disk_free_bytes");
  out.virtual_machine = maybe_flag(v, "virtual_machine");
  out.disk_encryption = maybe_flag(v, "disk_encryption");
  out.boot_id = name(v, "boot_id");
  out.hostname_hash = name(v, "hostname_hash");
  out.daemon_version = name(v, "daemon_version");
  out.time = text(v, "time", 40);
  return out;
}
json to_json(const HostFacts& h) {
  return {{"os", or_null(h.os)},
          {"os_version", or_null(h.os_version)},
          {"arch", or_null(h.arch)},
          {"chip", or_null(h.chip)},
          {"model", or_null(h.model)},
          {"memory_bytes", or_null(h.memory_bytes)},
          {"disk_free_bytes", or_null(h.disk_free_bytes)},
          {"virtual_machine", or_null(h.virtual_machine)},
          {"disk_encryption", or_null(h.disk_encryption)},
          {"boot_id", or_null(h.boot_id)},
          {"hostname_hash", or_null(h.hostname_hash)},
          {"daemon_version", or_null(h.daemon_version)},
          {"time", or_null(h.time)}};
}

GateSummary gate_summary_from_json(const json& v) {
  GateSummary out;
  out.decision = text(v, "decision", 40);
  out.approved_files = count(v, "approved_files");
  out.approved_bytes = count(v, "approved_bytes");
  out.refused_files = count(v, "refused_files");
  out.excluded_files = count(v, "excluded_files");
  out.not_proposed_files = count(v, "not_proposed_files");
  out.classes = list<GateClassCount>(
      v, "classes", [](const json& c) { return GateClassCount{text(c, "name", 40), count(c, "files"), count(c, "bytes")}; });
  out.rules = list<GateRuleCount>(v, "rules", [](const json& r) {
    return GateRuleCount{name(r, "rule"), text(r, "layer", 40), text(r, "verdict", 40), count(r, "files")};
  });
  out.layers = texts(v, "layers");
  out.policy_digest = text(v, "policy_digest", 80);
  out.retention_s = count(v, "retention_s");
  return out;
}
json to_json(const GateSummary& g) {
  return {{"decision", g.decision},
          {"approved_files", g.approved_files},
          {"approved_bytes", g.approved_bytes},
          {"refused_files", g.refused_files},
          {"excluded_files", g.excluded_files},
          {"not_proposed_files", g.not_proposed_files},
          {"classes",
           array_of(g.classes,
                    [](const GateClassCount& c) { return json{{"name", c.name}, {"files", c.files}, {"bytes", c.bytes}}; })},
          {"rules", array_of(g.rules,
                             [](const GateRuleCount& r) {
                               return json{{"rule", r.rule}, {"layer", r.layer}, {"verdict", r.verdict}, {"files", r.files}};
                             })},
          {"layers", g.layers},
          {"policy_digest", g.policy_digest},
          {"retention_s", g.retention_s}};
}

TransferFacts transfer_facts_from_json(const json& v) {
  return {count(v, "files"),          count(v, "bytes_total"), count(v, "bytes_sent"),  count(v, "chunks_sent"),
          count(v, "chunks_present"), seconds(v, "seconds"),   text(v, "snapshot", 80), json_flag(v, "audited")};
}
json to_json(const TransferFacts& t) {
  return {{"files", t.files},
          {"bytes_total", t.bytes_total},
          {"bytes_sent", t.bytes_sent},
          {"chunks_sent", t.chunks_sent},
          {"chunks_present", t.chunks_present},
          {"seconds", number(t.seconds)},
          {"snapshot", t.snapshot},
          {"audited", t.audited}};
}

Comparison comparison_from_json(const json& v) {
  Comparison out;
  out.alikeness = value_in(k_alike, v, "alikeness", Alikeness::unknown);
  out.conditions = list<ConditionPair>(v, "conditions", condition_of);
  out.outputs = list<OutputPair>(v, "outputs", output_of);
  out.outputs_total = count(v, "outputs_total");
  out.counts = count_map(v, "counts");
  out.not_compared_because = text(v, "not_compared_because");
  return out;
}
json to_json(const Comparison& c) {
  return {{"alikeness", name_of(c.alikeness)},
          {"conditions", array_of(c.conditions, condition_json)},
          {"outputs", array_of(c.outputs, output_json)},
          {"outputs_total", c.outputs_total},
          {"counts", c.counts},
          {"not_compared_because", c.not_compared_because}};
}

} // namespace remotemac
