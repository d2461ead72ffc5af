#include "cli/verdict/facts.h"

#include "cli/verdict/criteria.h"
#include "common/text.h"

#include <algorithm>

namespace remotemac::verdict {
namespace {

bool works_on_device(const std::optional<HarnessDocument>& run) {
  return run && ended_well(*run) && run->device_requested == "mps" && run->operations_on("mps") > 0;
}

bool names_blocking_package(const Evidence& evidence, const HarnessDocument& run) {
  if (!run.outcome.exception || !evidence.survey)
    return false;
  const ExceptionFacts& e = *run.outcome.exception;
  if (e.type != "ModuleNotFoundError" && e.type != "ImportError")
    return false;
  const auto mentions = [&](const std::string& word) { return !word.empty() && e.message.find("'" + word) != std::string::npos; };
  return std::ranges::any_of(evidence.survey->packages, [&](const SurveyPackage& p) {
    return p.package_class == PackageClass::blocks && (mentions(p.name) || std::ranges::any_of(p.modules, mentions));
  });
}

std::string_view why_failed(const Facts& facts) {
  const Evidence& evidence = facts.evidence;
  if (!evidence.strict && !evidence.permissive)
    return "run-missing";
  // The permissive run first: what ends it is not helped by the fallback either.
  for (const auto* part : {&evidence.permissive, &evidence.strict}) {
    if (!*part)
      continue;
    const HarnessDocument& run = **part;
    for (const UnsupportedUse& use : run.unsupported) {
      if (!ended_well(run) && ended_at(run, use) && (part == &evidence.permissive || !facts.helped_by_fallback(use)))
        return is_float64(use) ? "float64" : "unsupported";
    }
    if (names_blocking_package(evidence, run))
      return "cuda-package";
  }
  const HarnessDocument& run = evidence.strict ? *evidence.strict : *evidence.permissive;
  if (evidence.backend && evidence.backend->backend.usable == false)
    return "backend-unusable";
  if (run.device_requested == "mps" && ended_well(run) && !run.device_use.empty())
    return "silent-cpu";
  return "run-failed";
}

} // namespace

bool ended_at(const HarnessDocument& run, const UnsupportedUse& use) {
  if (!run.outcome.exception)
    return false;
  const ExceptionFacts& e = *run.outcome.exception;
  if (!e.message.empty() && !use.message.empty() &&
      (e.message == use.message || e.message.find(use.message) != std::string::npos ||
       use.message.find(e.message) != std::string::npos))
    return true;
  return !use.file.empty() && e.file == use.file && e.line == use.line;
}

bool ended_well(const HarnessDocument& run) {
  const bool zero = run.outcome.exit_code.value_or(-1) == 0;
  return !run.partial && (run.outcome.status == OutcomeStatus::ok || (run.outcome.status == OutcomeStatus::exit && zero));
}

bool is_float64(const UnsupportedUse& use) {
  const std::string lower = to_lower_ascii(use.message);
  return lower.find("float64") != std::string::npos || lower.find("double") != std::string::npos;
}

std::string base_name(std::string_view op) {
  op = op.substr(0, op.find('.'));
  if (op.ends_with('_') && !op.ends_with("__"))
    op.remove_suffix(1);
  return std::string(op);
}

std::string how_it_ended(const HarnessDocument& run) {
  if (run.partial)
    return "the process ended before its document was finished";
  if (run.outcome.exception) {
    const ExceptionFacts& e = *run.outcome.exception;
    return e.type + ": " + clean_line(e.message, 300) + at_place(e.file, e.line);
  }
  if (run.outcome.exit_code)
    return "exit status " + std::to_string(*run.outcome.exit_code);
  return run.outcome.status == OutcomeStatus::not_run ? "the command was not started" : "it ended in a way that was not recorded";
}

std::string refusal_text(const UnsupportedUse& use) {
  const std::string what = is_float64(use) ? "float64" : use.op.empty() ? "an operation without a name" : use.op;
  const std::string by = is_float64(use) && !use.op.empty() ? " in " + use.op : "";
  return what + by + at_place(use.file, use.line) + (use.message.empty() ? "" : ": " + clean_line(use.message, 200));
}

Facts::Facts(const Evidence& given) : evidence(given) {
  strict_works = works_on_device(given.strict);
  permissive_works = works_on_device(given.permissive);
  const auto look = [this](const SimulatedMark& mark) {
    if (mark.value == true) {
      simulated = true;
      if (simulation_reason.empty())
        simulation_reason = mark.reason;
    }
    simulation_unknown = simulation_unknown || !mark.value;
  };
  for (const auto* part : {&given.backend, &given.strict, &given.permissive}) {
    if (*part)
      look((*part)->simulated);
  }
  for (const auto* part : {&given.battery, &given.replay}) {
    if (*part)
      look((*part)->simulated);
  }
  const bool take_permissive = given.permissive && (!given.strict || (permissive_works && !strict_works));
  run = take_permissive ? &*given.permissive : given.strict ? &*given.strict : nullptr;
  run_name = take_permissive ? "permissive" : "strict";
  if (!works())
    failure = why_failed(*this);
  if (given.reference && given.reference->run) {
    reference_usable = ended_well(*given.reference->run);
    reference_cuda = given.reference->run->operations_on("cuda") > 0;
  }
  for (const OperationUse& each : run != nullptr ? run->operations : std::vector<OperationUse>{})
    (each.device == "mps" ? m_on_device : m_on_cpu).insert(base_name(each.name));
}

bool Facts::helped_by_fallback(const UnsupportedUse& use) const {
  if (is_float64(use) || !evidence.permissive)
    return false;
  return permissive_works || std::ranges::any_of(evidence.permissive->fallbacks,
                                                 [&](const FallbackUse& f) { return base_name(f.op) == base_name(use.op); });
}

bool Facts::uses(std::string_view op) const {
  return op.empty() || m_on_device.empty() || m_on_device.contains(base_name(op));
}
bool Facts::uses_only_on_device(std::string_view op) const {
  return uses(op) && !m_on_cpu.contains(base_name(op));
}

} // namespace remotemac::verdict
