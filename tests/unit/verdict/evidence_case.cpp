#include "evidence_case.h"

namespace remotemac::testing {
namespace {

constexpr std::uint64_t k_gigabyte = 1'000'000'000;

HarnessDocument document(const std::string& mode, const std::string& device) {
  HarnessDocument d;
  d.mode = mode;
  d.device_requested = device;
  d.fallback = device == "mps" ? "strict" : "none";
  d.platform = {"Darwin", "24.6.0", "arm64", "15.6", false};
  d.python = {"3.12.4", "CPython"};
  d.torch.version = "2.15.0";
  d.torch.mps_built = true;
  d.simulated.value = false;
  d.outcome.status = OutcomeStatus::ok;
  d.outcome.exit_code = 0;
  return d;
}

HarnessDocument reference_run(const std::string& device) {
  HarnessDocument d = document("mini-run", device);
  d.platform = {"Linux", "6.1.0", "x86_64", "", false};
  d.record = true;
  d.device_use[device] = {900, 40, 5'000'000};
  d.device_use["cpu"].operations += 100;
  d.timing = {4.0, 50, 0.2, 0.05, 0.06, "optimizer"};
  d.conditions = RunConditions{};
  return d;
}

WorkerDocument worker(const std::string& kind) {
  WorkerDocument d;
  d.kind = kind;
  d.torch_built_for = d.torch_running = "2.15.0";
  d.device = "mps";
  d.simulated.value = false;
  d.groups = {{"layout", GroupStatus::ok, std::nullopt, 0, 1.5, "", ""}};
  return d;
}

Survey survey() {
  Survey s;
  s.entry = {{"train.py"}, {"train.py"}, true, ""};
  s.counts = {4, 2, 2, 2, 4096};
  s.python_version = "3.12.4";
  return s;
}

Comparison comparison() {
  Comparison c;
  c.alikeness = Alikeness::alike;
  c.conditions = {{"seed", "0", "0", ConditionStatus::same, ConditionWeight::decides, ""},
                  {"dtype", "float32", "float32", ConditionStatus::same, ConditionWeight::decides, ""}};
  OutputPair loss;
  loss.file = "metrics.json";
  loss.key = "loss";
  loss.status = OutputStatus::equal;
  loss.elements = 10;
  c.outputs = {loss};
  c.outputs_total = 1;
  c.counts = {{"equal", 1}};
  return c;
}

void add_worker_documents(Evidence& e) {
  e.battery = worker("battery");
  e.battery->profile = "quick";
  e.battery->findings = {{"layout.mm.plain", "layout", "aten::mm", "plain", FindingStatus::pass, "", "", std::nullopt},
                         {"layout.erfinv.plain", "layout", "aten::erfinv", "plain", FindingStatus::pass, "", "", std::nullopt}};
  e.replay = worker("replay");
  e.replay->replay = {{0, "aten::mm", 100, ReplayStatus::native, "", 0.0001, std::nullopt},
                      {1, "aten::add.Tensor", 100, ReplayStatus::native, "", 0.0001, std::nullopt}};
}

} // namespace

HarnessDocument mini_run_on_mac(const std::string& fallback) {
  HarnessDocument d = document("mini-run", "mps");
  d.fallback = fallback;
  d.device_use["mps"] = {1000, 2, 6'000'000};
  d.device_use["cpu"] = {200, 1, 100'000};
  d.parameters["mps"] = 25'000;
  d.operations = {{"aten::mm", "mps", 500, 1.0, OperationKind::native},
                  {"aten::add.Tensor", "mps", 500, 0.5, OperationKind::native},
                  {"aten::stack", "cpu", 200, 0.1, OperationKind::native}};
  d.timing = {5.0, 50, 0.4, 0.08, 0.09, "optimizer"};
  d.memory.peak_device_bytes = 40'000'000;
  d.memory.peak_driver_bytes = 90'000'000;
  d.memory.slope_bytes_per_step = 0.0;
  d.conditions = RunConditions{};
  d.imports = {{"torch", "torch", "train.py"}};
  return d;
}

Evidence everything_shown() {
  Evidence e;
  e.run = {"r1", "2026-12-01T01:02:03.000Z", "2026-12-01T01:09:03.000Z", "0.1.0", "mini1"};
  e.project = {"digits", "coursework", "aa", "mini"};
  e.survey = survey();
  e.gate = GateSummary{};
  e.gate->decision = "allowed";
  e.gate->approved_files = 4;
  e.gate->approved_bytes = 4096;
  e.gate->retention_s = 86400;
  e.host = HostFacts{};
  e.host->os = "Darwin";
  e.host->chip = "Apple M4";
  e.host->memory_bytes = 16 * k_gigabyte;
  e.host->virtual_machine = false;
  e.transfer = TransferFacts{4, 4096, 4096, 4, 0, 0.5, "bb", true};
  e.job = JobRecord{};
  e.job->job = "jaaaaaaaaaaaa";
  e.job->state = JobState::succeeded;
  e.backend = document("backend", "mps");
  e.backend->backend = {true, true, true, 1, "Apple M4", {{"allocate", true, ""}, {"matmul", true, ""}}};
  add_worker_documents(e);
  e.strict = mini_run_on_mac("strict");
  e.permissive = mini_run_on_mac("permissive");
  e.reference = ReferenceFacts{"aa", std::nullopt, std::nullopt, reference_run("cuda")};
  e.comparison = comparison();
  return e;
}

Evidence digits_on_stand_in() {
  Evidence e = everything_shown();
  e.host->os = "Linux";
  e.host->chip = "a processor";
  e.host->virtual_machine = true; // containers and rented machines are
  for (auto* part : {&e.backend, &e.strict, &e.permissive}) {
    (*part)->platform = {"Linux", "6.1.0", "x86_64", "", std::nullopt};
    (*part)->simulated = {true, "the simulation's marker operator is registered"};
  }
  for (auto* part : {&e.battery, &e.replay})
    (*part)->simulated = {true, "the simulation's marker operator is registered"};
  e.reference->run = reference_run("cpu");
  return e;
}

void end_at_float64(Evidence& evidence) {
  for (auto* part : {&evidence.strict, &evidence.permissive}) {
    HarnessDocument& run = **part;
    const std::string message = "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.";
    run.outcome = {OutcomeStatus::exception, 1, ExceptionFacts{"TypeError", message, "train.py", 12}};
    run.unsupported = {{"aten::_to_copy", message, "train.py", 12}};
  }
  evidence.comparison.reset();
}

void need_fallback(Evidence& evidence) {
  const std::string message = "The operator 'aten::special_erfcx' is not currently implemented for the MPS device.";
  evidence.strict->outcome = {OutcomeStatus::exception, 1, ExceptionFacts{"NotImplementedError", message, "model.py", 7}};
  evidence.strict->unsupported = {{"aten::special_erfcx", message, "model.py", 7}};
  evidence.permissive->fallbacks = {{"aten::special_erfcx", 50, 0.4, 0.25, "falls back to run on the CPU"}};
}

const std::vector<Part>& removable_parts() {
  static const std::vector<Part> parts{
      {"survey", [](Evidence& e) { e.survey.reset(); }},
      {"gate", [](Evidence& e) { e.gate.reset(); }},
      {"host", [](Evidence& e) { e.host.reset(); }},
      {"transfer", [](Evidence& e) { e.transfer.reset(); }},
      {"job", [](Evidence& e) { e.job.reset(); }},
      {"backend", [](Evidence& e) { e.backend.reset(); }},
      {"battery", [](Evidence& e) { e.battery.reset(); }},
      {"replay", [](Evidence& e) { e.replay.reset(); }},
      {"strict", [](Evidence& e) { e.strict.reset(); }},
      {"permissive", [](Evidence& e) { e.permissive.reset(); }},
      {"reference", [](Evidence& e) { e.reference.reset(); }},
      {"reference.run",
       [](Evidence& e) {
         if (e.reference)
           e.reference->run.reset();
       }},
      {"comparison", [](Evidence& e) { e.comparison.reset(); }},
  };
  return parts;
}

} // namespace remotemac::testing
