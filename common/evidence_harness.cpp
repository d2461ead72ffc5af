// The harness document: reading what the harness wrote, or what an evidence file keeps of it.
#include "common/evidence.h"
#include "common/evidence_json.h"

namespace remotemac {
namespace {
using namespace evidence_json;

constexpr std::array k_outcomes{
    Named<OutcomeStatus>{OutcomeStatus::ok, "ok"}, Named<OutcomeStatus>{OutcomeStatus::exception, "exception"},
    Named<OutcomeStatus>{OutcomeStatus::exit, "exit"}, Named<OutcomeStatus>{OutcomeStatus::not_run, "not-run"}};
constexpr std::array k_kinds{Named<OperationKind>{OperationKind::native, "native"},
                             Named<OperationKind>{OperationKind::composite, "composite"},
                             Named<OperationKind>{OperationKind::fallback, "fallback"}};

SimulatedMark simulated_of(const json& value) {
  return {maybe_flag(value, "value"), text(value, "reason")};
}
PlatformFacts platform_of(const json& v) {
  return {name(v, "system"), name(v, "release"), name(v, "machine"), name(v, "macos"), maybe_flag(v, "virtual_machine")};
}
TorchFacts torch_of(const json& v) {
  return {name(v, "version"), name(v, "git_version"), name(v, "cuda_build"), maybe_flag(v, "mps_built"), text(v, "error")};
}

BackendFacts backend_of(const json& v) {
  BackendFacts out;
  out.built = maybe_flag(v, "built");
  out.available = maybe_flag(v, "available");
  out.usable = maybe_flag(v, "usable");
  out.device_count = count(v, "device_count");
  out.device_name = name(v, "device_name");
  out.steps = list<BackendStep>(
      v, "steps", [](const json& s) { return BackendStep{name(s, "name"), json_flag(s, "ok"), text(s, "detail")}; });
  return out;
}

Outcome outcome_of(const json& v) {
  Outcome out;
  out.status = value_in(k_outcomes, v, "status", OutcomeStatus::not_run);
  out.exit_code = maybe_int(v, "exit_code");
  if (const json& e = json_at(v, "exception"); e.is_object())
    out.exception = ExceptionFacts{name(e, "type"), text(e, "message"), path(e, "file"), line_number(e, "line")};
  return out;
}

std::map<std::string, DeviceUse> device_use_of(const json& values) {
  std::map<std::string, DeviceUse> out;
  for (auto it = values.begin(); values.is_object() && it != values.end() && out.size() < 64; ++it) {
    if (it->is_object())
      out.emplace(safe_text(it.key(), 40),
                  DeviceUse{count(*it, "operations"), count(*it, "distinct"), count(*it, "outputs_bytes")});
  }
  return out;
}

void read_operations(const json& v, HarnessDocument& out) {
  out.operations = list<OperationUse>(v, "operations", [](const json& o) {
    return OperationUse{name(o, "name"), text(o, "device", 40), count(o, "calls"), seconds(o, "time_s"),
                        value_in(k_kinds, o, "kind", OperationKind::native)};
  });
  out.fallbacks = list<FallbackUse>(v, "fallbacks", [](const json& f) {
    FallbackUse use{name(f, "operator"), count(f, "calls"), seconds(f, "time_s"), maybe_number(f, "share"), text(f, "message")};
    if (use.share && (*use.share < 0 || *use.share > 1))
      use.share.reset();
    return use;
  });
  out.unsupported = list<UnsupportedUse>(v, "unsupported", [](const json& u) {
    return UnsupportedUse{name(u, "operator"), text(u, "message"), path(u, "file"), line_number(u, "line")};
  });
}

TimingFacts timing_of(const json& v) {
  return {
      seconds(v, "wall_s"),          count(v, "steps"),         maybe_number(v, "first_step_s"), maybe_number(v, "step_median_s"),
      maybe_number(v, "step_p90_s"), text(v, "step_source", 40)};
}

MemoryFacts memory_of(const json& v) {
  MemoryFacts out;
  out.peak_device_bytes = maybe_count(v, "peak_device_bytes");
  out.peak_driver_bytes = maybe_count(v, "peak_driver_bytes");
  out.peak_rss_bytes = maybe_count(v, "peak_rss_bytes");
  out.slope_bytes_per_step = maybe_number(v, "slope_bytes_per_step");
  const json& samples = json_at(v, "samples");
  for (std::size_t i = 0; samples.is_array() && i < samples.size() && out.samples.size() < k_max_entries; ++i) {
    if (!samples[i].is_array() || samples[i].size() != 2)
      continue;
    const json pair{{"step", samples[i][0]}, {"bytes", samples[i][1]}};
    const auto step = maybe_count(pair, "step");
    const auto bytes = maybe_count(pair, "bytes");
    if (step && bytes)
      out.samples.push_back({*step, *bytes});
  }
  return out;
}

// A seed is a number or, where the project gave something else, a text.
SeedUse seed_of(const json& v) {
  const json& value = json_at(v, "value");
  SeedUse out{name(v, "api"), name(v, "value")};
  if (value.is_number_integer())
    out.value =
        value.is_number_unsigned() ? std::to_string(value.get<std::uint64_t>()) : std::to_string(value.get<std::int64_t>());
  return out;
}

RunConditions conditions_of(const json& v) {
  RunConditions out;
  out.seeds = list<SeedUse>(v, "seeds", seed_of);
  out.default_dtype = text(v, "default_dtype", 40);
  out.float32_matmul_precision = text(v, "float32_matmul_precision", 40);
  out.allow_tf32 = maybe_flag(v, "allow_tf32");
  out.deterministic = maybe_flag(v, "deterministic");
  out.cudnn_benchmark = maybe_flag(v, "cudnn_benchmark");
  out.autocast =
      list<AutocastUse>(v, "autocast", [](const json& a) { return AutocastUse{text(a, "device", 40), text(a, "dtype", 40)}; });
  out.compile_used = maybe_flag(v, "compile_used");
  out.batch_sizes = integers(v, "batch_sizes");
  out.dataloader_workers = integers(v, "dataloader_workers");
  out.threads = maybe_int64(v, "threads");
  out.rng_devices = texts(v, "rng_devices", 40);
  return out;
}

json conditions_json(const RunConditions& c) {
  return {{"seeds", array_of(c.seeds, [](const SeedUse& s) { return json{{"api", s.api}, {"value", s.value}}; })},
          {"default_dtype", c.default_dtype},
          {"float32_matmul_precision", c.float32_matmul_precision},
          {"allow_tf32", or_null(c.allow_tf32)},
          {"deterministic", or_null(c.deterministic)},
          {"cudnn_benchmark", or_null(c.cudnn_benchmark)},
          {"autocast", array_of(c.autocast, [](const AutocastUse& a) { return json{{"device", a.device}, {"dtype", a.dtype}}; })},
          {"compile_used", or_null(c.compile_used)},
          {"batch_sizes", c.batch_sizes},
          {"dataloader_workers", c.dataloader_workers},
          {"threads", or_null(c.threads)},
          {"rng_devices", c.rng_devices}};
}

json outcome_json(const Outcome& o) {
  json exception;
  if (o.exception)
    exception = {
        {"type", o.exception->type}, {"message", o.exception->message}, {"file", o.exception->file}, {"line", o.exception->line}};
  return {{"status", name_of(o.status)}, {"exit_code", or_null(o.exit_code)}, {"exception", std::move(exception)}};
}

json backend_json(const BackendFacts& b) {
  return {{"built", or_null(b.built)},
          {"available", or_null(b.available)},
          {"usable", or_null(b.usable)},
          {"device_count", b.device_count},
          {"device_name", b.device_name},
          {"steps",
           array_of(b.steps, [](const BackendStep& s) { return json{{"name", s.name}, {"ok", s.ok}, {"detail", s.detail}}; })}};
}

json measured_json(const TimingFacts& t) {
  return {{"wall_s", number(t.wall_s)},
          {"steps", t.steps},
          {"first_step_s", number(t.first_step_s)},
          {"step_median_s", number(t.step_median_s)},
          {"step_p90_s", number(t.step_p90_s)},
          {"step_source", t.step_source}};
}

json memory_json(const MemoryFacts& m) {
  return {{"peak_device_bytes", or_null(m.peak_device_bytes)},
          {"peak_driver_bytes", or_null(m.peak_driver_bytes)},
          {"peak_rss_bytes", or_null(m.peak_rss_bytes)},
          {"samples", array_of(m.samples, [](const MemorySample& s) { return json::array({s.step, s.device_bytes}); })},
          {"slope_bytes_per_step", number(m.slope_bytes_per_step)}};
}

void write_operations(const HarnessDocument& d, json& out) {
  json use = json::object();
  for (const auto& [device, u] : d.device_use)
    use[device] = {{"operations", u.operations}, {"distinct", u.distinct}, {"outputs_bytes", u.outputs_bytes}};
  out["device_use"] = std::move(use);
  out["parameters"] = d.parameters;
  out["operations"] = array_of(d.operations, [](const OperationUse& o) {
    return json{
        {"name", o.name}, {"device", o.device}, {"calls", o.calls}, {"time_s", number(o.time_s)}, {"kind", name_of(o.kind)}};
  });
  out["fallbacks"] = array_of(d.fallbacks, [](const FallbackUse& f) {
    return json{
        {"operator", f.op}, {"calls", f.calls}, {"time_s", number(f.time_s)}, {"share", number(f.share)}, {"message", f.message}};
  });
  out["unsupported"] = array_of(d.unsupported, [](const UnsupportedUse& u) {
    return json{{"operator", u.op}, {"message", u.message}, {"file", u.file}, {"line", u.line}};
  });
}

} // namespace

std::string_view name_of(OutcomeStatus value) {
  return name_in(k_outcomes, value);
}
std::string_view name_of(OperationKind value) {
  return name_in(k_kinds, value);
}

std::uint64_t HarnessDocument::operations_on(std::string_view device) const {
  const auto it = device_use.find(std::string(device));
  return it == device_use.end() ? 0 : it->second.operations;
}

Result<HarnessDocument> harness_document_from_json(const json& v) {
  if (!v.is_object() || json_text(v, "format") != "remotemac-harness")
    return Error(ErrorCode::corrupt, "the harness document is not one (its format is not remotemac-harness)",
                 "run the job again");
  if (json_int(v, "version") != 1)
    return Error(ErrorCode::corrupt, "the harness document has a version that this program does not know",
                 "use the same remotemac on both sides: remotemac doctor");
  HarnessDocument out;
  out.mode = text(v, "mode", 40);
  out.record = json_flag(v, "record");
  out.partial = json_flag(v, "partial");
  out.device_requested = text(v, "device_requested", 40);
  out.fallback = text(v, "fallback", 40);
  out.platform = platform_of(json_at(v, "platform"));
  out.python = {name(json_at(v, "python"), "version"), name(json_at(v, "python"), "implementation")};
  out.torch = torch_of(json_at(v, "torch"));
  out.packages =
      list<PackageVersion>(v, "packages", [](const json& p) { return PackageVersion{name(p, "name"), name(p, "version")}; });
  out.simulated = simulated_of(json_at(v, "simulated"));
  const json& environment = json_at(v, "environment");
  out.environment = {text_map(environment, "before"), text_map(environment, "after"),
                     text_map(environment, "changed_by_project")};
  out.backend = backend_of(json_at(v, "backend"));
  out.outcome = outcome_of(json_at(v, "outcome"));
  out.device_use = device_use_of(json_at(v, "device_use"));
  out.parameters = count_map(v, "parameters");
  read_operations(v, out);
  out.timing = timing_of(json_at(v, "timing"));
  out.memory = memory_of(json_at(v, "memory"));
  if (json_at(v, "conditions").is_object())
    out.conditions = conditions_of(json_at(v, "conditions"));
  out.imports = list<ImportUse>(v, "imports", [](const json& i) {
    return ImportUse{name(i, "module"), name(i, "distribution"), path(i, "file_in_project")};
  });
  out.outputs = list<OutputFact>(
      v, "outputs", [](const json& o) { return OutputFact{path(o, "name"), count(o, "size_bytes"), text(o, "sha256", 64)}; });
  out.missing_outputs = paths(v, "missing_outputs");
  out.notes = texts(v, "notes", k_max_text);
  const json& signatures = json_at(v, "signatures");
  out.signatures = signatures.is_array() ? signatures.size() : count(v, "signatures");
  return out;
}

json to_json(const HarnessDocument& d) {
  json out{{"format", "remotemac-harness"},
           {"version", 1},
           {"mode", d.mode},
           {"record", d.record},
           {"partial", d.partial},
           {"device_requested", d.device_requested},
           {"fallback", d.fallback},
           {"python", {{"version", d.python.version}, {"implementation", d.python.implementation}}},
           {"simulated", {{"value", or_null(d.simulated.value)}, {"reason", d.simulated.reason}}},
           {"backend", backend_json(d.backend)},
           {"outcome", outcome_json(d.outcome)},
           {"timing", measured_json(d.timing)},
           {"memory", memory_json(d.memory)},
           {"missing_outputs", d.missing_outputs},
           {"notes", d.notes},
           {"signatures", d.signatures}};
  const PlatformFacts& p = d.platform;
  out["platform"] = {{"system", p.system},
                     {"release", p.release},
                     {"machine", p.machine},
                     {"macos", p.macos},
                     {"virtual_machine", or_null(p.virtual_machine)}};
  const TorchFacts& t = d.torch;
  out["torch"] = {{"version", t.version},
                  {"git_version", t.git_version},
                  {"cuda_build", t.cuda_build},
                  {"mps_built", or_null(t.mps_built)},
                  {"error", t.error}};
  out["environment"] = {
      {"before", d.environment.before}, {"after", d.environment.after}, {"changed_by_project", d.environment.changed_by_project}};
  out["packages"] = array_of(d.packages, [](const PackageVersion& v) { return json{{"name", v.name}, {"version", v.version}}; });
  out["conditions"] = d.conditions ? conditions_json(*d.conditions) : json(nullptr);
  out["imports"] = array_of(d.imports, [](const ImportUse& i) {
    return json{{"module", i.module}, {"distribution", i.distribution}, {"file_in_project", i.file_in_project}};
  });
  out["outputs"] = array_of(
      d.outputs, [](const OutputFact& o) { return json{{"name", o.name}, {"size_bytes", o.size_bytes}, {"sha256", o.sha256}}; });
  write_operations(d, out);
  return out;
}

} // namespace remotemac
