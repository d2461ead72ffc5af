#include "report_case.h"

#include "../verdict/evidence_case.h"
#include "common/text.h"

#include <clocale>
#include <cwchar>

namespace remotemac::testing {
namespace {
void fill(Evidence& e) {
  e.gate->classes = {{"code", 3, 3000}, {"synthetic", 1, 1096}};
  e.gate->rules = {{"no-secrets", "built-in", "approved", 4}, {"checkpoints", "project", "excluded", 2}};
  e.gate->policy_digest = "sha256:0011223344556677";
  e.gate->layers = {"built-in", "project"};
  e.gate->excluded_files = 2;
  e.job->expires = "2026-12-02T01:02:03.000Z";
  e.job->network = "namespace";
  e.strict->packages = {{"numpy", "2.4.0"}, {"torch", "2.15.0"}};
  e.reference->run->packages = {{"numpy", "2.3.0"}, {"torch", "2.15.0"}};
  e.reference->run->torch.cuda_build = "12.8";
  e.reference->run->memory.peak_device_bytes = 35'000'000;
}
} // namespace

Case suitable_case() {
  Case out{everything_shown(), {}};
  fill(out.evidence);
  out.verdict = verdict::judge(out.evidence);
  return out;
}

Case digits_case() {
  Case out{digits_on_stand_in(), {}};
  Evidence& e = out.evidence;
  fill(e);
  e.battery->findings.push_back({"layout.addmm.t", "layout", "aten::addmm", "transposed", FindingStatus::fail,
                                 "wrong where the first argument is transposed",
                                 "import torch\nfor i in range(2):\n    print(i)\n",
                                 NumericError{0.5, 0.25, 1e-7, Band::outside, 3, 16}});
  e.battery->groups.push_back({"order", GroupStatus::crash, 11, std::nullopt, 0.5, "order.copy", "segmentation fault"});
  e.comparison->alikeness = Alikeness::unlike;
  e.comparison->conditions.push_back(
      {"tf32", "no", "yes", ConditionStatus::different, ConditionWeight::decides, "TF32 keeps 10 bits"});
  e.comparison->not_compared_because = "the conditions are not alike: tf32";
  e.comparison->outputs.clear();
  e.replay->replay.push_back(
      {2, "aten::special_erfcx", 50, ReplayStatus::fallback, "ran on the CPU", 0.01, std::nullopt});
  out.verdict = verdict::judge(e);
  return out;
}

Case float64_case() {
  Case out{everything_shown(), {}};
  end_at_float64(out.evidence);
  out.evidence.absent["comparison"] = "no mini-run on the host left outputs";
  out.verdict = verdict::judge(out.evidence);
  return out;
}

Case broken_off_case() {
  Case out;
  const Evidence all = everything_shown();
  out.evidence.run = all.run;
  out.evidence.project = all.project;
  out.evidence.survey = all.survey;
  out.evidence.gate = all.gate;
  out.evidence.broke_off = BrokeOff{"sync", "connection", "the host closed the connection after 3 tries",
                                    "look at the host: remotemac doctor --host mini1"};
  out.evidence.absent = {{"strict", "no job was submitted"}};
  out.verdict = verdict::judge(out.evidence);
  return out;
}

Case hostile_case(const std::string& text) {
  Case out = digits_case();
  Evidence& e = out.evidence;
  need_fallback(e);
  e.strict->unsupported.push_back({text, text, text, 7});
  e.run = {text, text, text, text, text};
  e.project = {text, text, text, text};
  e.gate->classes.push_back({text, 1, 1});
  e.gate->rules.push_back({text, text, text, 1});
  e.gate->layers.push_back(text);
  e.gate->policy_digest = text;
  e.transfer->snapshot = text;
  e.host->chip = e.host->model = e.host->daemon_version = text;
  e.survey->packages.push_back({text,
                                {text},
                                PackageClass::blocks,
                                text,
                                text,
                                Effort::days,
                                text,
                                Need::needed,
                                {{text, 3, text, Reach::reached}},
                                {}});
  e.survey->signals.push_back({text, Severity::blocks, text, 4, text, Reach::reached, false, text, text});
  e.survey->not_surveyed.push_back({text, text});
  for (auto* run : {&e.strict, &e.permissive, &e.reference->run}) {
    (*run)->torch.version = (*run)->python.version = (*run)->backend.device_name = (*run)->device_requested = text;
    (*run)->device_use[text] = {5, 1, 10};
    (*run)->operations.push_back({text, text, 5, 2.0, OperationKind::fallback});
    (*run)->fallbacks.push_back({text, 5, 1.0, 0.5, text});
    (*run)->packages.push_back({text, text + "1"});
  }
  e.strict->outcome.exception = ExceptionFacts{text, text, text, 3};
  e.backend->backend.steps.push_back({text, false, text});
  e.battery->groups.push_back({text, GroupStatus::crash, 11, std::nullopt, 1, text, text});
  e.battery->findings.push_back({text, text, text, text, FindingStatus::crash, text, text, std::nullopt});
  e.replay->replay.push_back({3, text, 1, ReplayStatus::crash, text, 0.1, std::nullopt});
  e.comparison->conditions.push_back({text, text, text, ConditionStatus::different, ConditionWeight::decides, text});
  e.comparison->not_compared_because.clear();
  e.comparison->counts[text] = 1;
  OutputPair pair;
  pair.file = pair.key = pair.detail = pair.shape_run = pair.shape_reference = text;
  pair.status = OutputStatus::shape_differs;
  e.comparison->outputs.push_back(pair);
  e.absent[text] = text;
  out.verdict = verdict::judge(e);
  out.verdict.next_steps.push_back(text);
  out.verdict.obstacles.push_back({text, text, text, text});
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  return split(text, '\n');
}

int columns_of(std::string_view line) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::string bytes(line);
  std::mbstate_t state{};
  const char* at = bytes.c_str();
  const char* end = at + bytes.size();
  int columns = 0;
  while (at < end) {
    wchar_t c = 0;
    const std::size_t length = std::mbrtowc(&c, at, static_cast<std::size_t>(end - at), &state);
    const int width = length == 0 || length > 4 ? -1 : wcwidth(c);
    if (width < 0)
      return -1;
    columns += width;
    at += length;
  }
  return columns;
}

std::size_t line_with(const std::vector<std::string>& lines, std::string_view needle) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(needle) != std::string::npos)
      return i;
  }
  return lines.size();
}

} // namespace remotemac::testing
