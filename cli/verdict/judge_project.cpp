// C2 dependencies, C6 operations, and the obstacles that both know of.
#include "cli/verdict/criteria.h"
#include "cli/verdict/judges.h"
#include "common/text.h"

#include <algorithm>

namespace remotemac::verdict {
namespace {

bool imported_in(const HarnessDocument& run, const SurveyPackage& package) {
  return std::ranges::any_of(run.imports, [&](const ImportUse& use) {
    return use.distribution == package.name || std::ranges::find(package.modules, use.module) != package.modules.end();
  });
}

// Was the package there and in use while the run worked? Then it did not stand in the way.
bool proven_by_run(const Facts& facts, const SurveyPackage& package) {
  return facts.strict_works && imported_in(*facts.run, package);
}

void judge_package(Sheet& sheet, const Facts& facts, const SurveyPackage& package) {
  const bool asked = package.need == Need::needed || package.need == Need::unknown;
  const std::string need = package.need == Need::needed     ? "needed"
                           : package.need == Need::optional ? "optional"
                           : package.need == Need::unused   ? "not used"
                                                            : "perhaps needed";
  const std::string instead = package.alternative.empty() ? "" : " Instead: " + package.alternative + ".";
  const std::string text = "Package " + package.name + " (" + std::string(name_of(package.package_class)) + ") is " + need +
                           (package.why.empty() ? "" : ": " + package.why) + "." + instead;
  const bool cuda_only = package.package_class == PackageClass::blocks;
  if (package.package_class == PackageClass::portable || !asked)
    return sheet.note(text);
  if (cuda_only && facts.failure == "cuda-package")
    return sheet.limit("cuda-package", Status::fail, text);
  if (cuda_only && facts.evidence.project.purpose == "cuda-extensions")
    return sheet.limit("extensions-open", Status::not_shown, text);
  if (proven_by_run(facts, package))
    return sheet.pass("Package " + package.name + " was imported by the strict run, which worked.");
  if (facts.strict_works && !cuda_only && !facts.run->imports.empty())
    return sheet.pass("Package " + package.name + " (" + std::string(name_of(package.package_class)) +
                      ") was not imported by the strict run, which worked without it.");
  sheet.limit("packages-open", package.need == Need::needed ? Status::limited : Status::not_shown, text);
}

void judge_gaps(Sheet& sheet, const Facts& facts, const Survey& survey) {
  // What the survey could not read is covered where the run itself recorded what it imported.
  const bool covered = facts.works() && !facts.run->imports.empty();
  if (!survey.entry.resolved) {
    const std::string text = "The survey could not tell which files the command starts" +
                             (survey.entry.note.empty() ? "" : " (" + survey.entry.note + ")") + ".";
    covered ? sheet.open_note(text) : sheet.limit("survey-missing", Status::not_shown, text);
  }
  for (const SurveyGap& gap : survey.not_surveyed) {
    const std::string text = "Not surveyed: " + gap.what + ", because " + gap.reason + ".";
    covered ? sheet.open_note(text) : sheet.limit("survey-missing", Status::not_shown, text);
  }
}

} // namespace

Criterion judge_dependencies(const Facts& facts) {
  Sheet sheet("C2");
  const std::optional<Survey>& survey = facts.evidence.survey;
  if (!survey) {
    sheet.limit(facts.evidence.project.purpose == "cuda-extensions" ? "extensions-open" : "survey-missing", Status::not_shown,
                "There is no survey of the project.");
    return std::move(sheet).take();
  }
  sheet.pass("Surveyed: " + counted(survey->counts.files, "file", "files") + ", " +
             counted(survey->requirements.size(), "requirement", "requirements") + ", " +
             counted(survey->packages.size(), "package", "packages") + " known to matter on a Mac.");
  for (const SurveyPackage& package : survey->packages)
    judge_package(sheet, facts, package);
  for (const SurveySignal& signal : survey->signals) {
    if (signal.severity == Severity::blocks && !signal.guarded &&
        (signal.reach == Reach::reached || signal.reach == Reach::maybe || signal.reach == Reach::unknown))
      sheet.limit("sources-open", signal.reach == Reach::reached ? Status::limited : Status::not_shown,
                  signal.construct + at_place(signal.file, signal.line) + ": " + signal.effect + ".");
  }
  judge_gaps(sheet, facts, *survey);
  return std::move(sheet).take();
}

namespace {

std::string fallback_text(const FallbackUse& use) {
  return use.op + " falls back to the CPU: " + counted(use.calls, "call", "calls") + ", " +
         (use.share ? percent(*use.share) + " of the time spent in operations" : "share of the time not measured");
}

// Each refusal once: at what the permissive run ends is the heavier, since no fallback helps there.
void judge_refused(Sheet& sheet, const Facts& facts) {
  std::vector<std::string> said;
  for (const auto* part : {&facts.evidence.permissive, &facts.evidence.strict}) {
    if (!*part)
      continue;
    const HarnessDocument& run = **part;
    for (const UnsupportedUse& use : run.unsupported) {
      const std::string text = "The device refuses " + refusal_text(use) + ".";
      if (std::ranges::find(said, text) != said.end())
        continue;
      said.push_back(text);
      const bool needed = !facts.works() && !ended_well(run) && ended_at(run, use);
      const bool helped = part == &facts.evidence.strict && !facts.strict_works && facts.helped_by_fallback(use);
      if (needed && !helped)
        sheet.limit(is_float64(use) ? "float64" : "unsupported", Status::fail, text);
      else
        sheet.limit(helped ? "fallback" : "refused-and-caught", Status::limited, text);
    }
  }
}

void judge_fallbacks(Sheet& sheet, const Facts& facts) {
  for (const auto* part : {&facts.evidence.strict, &facts.evidence.permissive}) {
    if (!*part)
      continue;
    std::vector<const FallbackUse*> uses;
    for (const FallbackUse& use : (*part)->fallbacks)
      uses.push_back(&use);
    std::ranges::stable_sort(
        uses, [](const FallbackUse* a, const FallbackUse* b) { return a->share.value_or(0) > b->share.value_or(0); });
    for (const FallbackUse* use : uses)
      sheet.limit("fallback", Status::limited,
                  "In the " + std::string(part == &facts.evidence.strict ? "strict" : "permissive") + " run " +
                      fallback_text(*use) + ".");
  }
}

void judge_replayed_support(Sheet& sheet, const Facts& facts) {
  if (!facts.evidence.replay) // judged by C11, which needs it too
    return;
  std::uint64_t good = 0;
  for (const ReplayedSignature& each : facts.evidence.replay->replay) {
    good += each.status == ReplayStatus::native ? 1U : 0U;
    if (each.status != ReplayStatus::unsupported && each.status != ReplayStatus::fallback)
      continue;
    const std::string text = "Replay: " + each.op + " (signature " + std::to_string(each.index) + ") is " +
                             std::string(name_of(each.status)) + (each.detail.empty() ? "" : ": " + clean_line(each.detail, 200));
    // The run without fallback worked: what it gave to the CPU itself is no need of the device.
    if (facts.strict_works && !facts.uses_only_on_device(each.op))
      sheet.note(text + "; the run itself gives it to the CPU.");
    else
      sheet.limit("fallback", Status::limited, text + ".");
  }
  sheet.note("Replay: " + std::to_string(good) + " of " +
             counted(facts.evidence.replay->replay.size(), "signature", "signatures") + " native.");
}

} // namespace

Criterion judge_operations(const Facts& facts) {
  Sheet sheet("C6");
  if (facts.run == nullptr) {
    sheet.limit("run-missing", Status::not_shown, "No mini-run left a document, so no operation is accounted for.");
    return std::move(sheet).take();
  }
  const HarnessDocument& run = *facts.run;
  judge_refused(sheet, facts);
  judge_fallbacks(sheet, facts);
  judge_replayed_support(sheet, facts);
  const std::uint64_t on_device = run.operations_on("mps");
  std::uint64_t listed = 0;
  std::uint64_t fell_back = 0;
  for (const OperationUse& each : run.operations) {
    listed += each.device == "mps" ? 1U : 0U;
    if (each.device == "mps" && each.kind == OperationKind::fallback) {
      ++fell_back;
      if (run.fallbacks.empty())
        sheet.limit("fallback", Status::limited,
                    each.name + " has no kernel for the device: " + counted(each.calls, "call", "calls") + ".");
    }
  }
  if (!facts.evidence.strict && facts.works())
    sheet.limit("strict-missing", Status::not_shown,
                "Without the strict run it is not shown that no operation needs the fallback.");
  if (!facts.evidence.permissive && facts.works())
    sheet.limit("permissive-missing", Status::not_shown, "Without the permissive run the fallbacks are not named.");
  if (run.conditions && run.conditions->compile_used == true)
    sheet.limit("operations-not-listed", Status::not_shown,
                "torch.compile was used: operations inside compiled regions are not listed.");
  if (facts.works() && listed == 0)
    sheet.limit("operations-not-listed", Status::not_shown,
                "The run lists none of its " + std::to_string(on_device) + " operations on the device.");
  else if (facts.works())
    sheet.pass("The " + std::string(facts.run_name) + " run: " + counted(on_device, "operation", "operations") + " on mps, " +
               std::to_string(listed) + " different ones, " + std::to_string(fell_back) +
               " of them without a kernel for the device.");
  else if (facts.failure != "float64" && facts.failure != "unsupported")
    sheet.limit(facts.failure, Status::not_shown,
                "The run did not come to its end on the device, so what it needs is not fully known.");
  return std::move(sheet).take();
}

std::vector<Obstacle> find_obstacles(const Facts& facts) {
  std::vector<Obstacle> out;
  const auto add = [&out](Obstacle obstacle) {
    if (std::ranges::none_of(out, [&](const Obstacle& o) { return o.what == obstacle.what && o.where == obstacle.where; }))
      out.push_back(std::move(obstacle));
  };
  const auto effort = [](Effort value) { return value == Effort::none ? std::string() : std::string(name_of(value)); };
  for (const auto* part : {&facts.evidence.strict, &facts.evidence.permissive}) {
    for (const UnsupportedUse& use : *part ? (*part)->unsupported : std::vector<UnsupportedUse>{}) {
      const std::string what = is_float64(use) ? "float64 on the device" + (use.op.empty() ? "" : " in " + use.op)
                                               : (use.op.empty() ? "a refused operation" : use.op) + " is not there on MPS";
      add({what, place(use.file, use.line), "", is_float64(use) ? "float32, or this computation on the CPU" : ""});
    }
    for (const FallbackUse& use : *part ? (*part)->fallbacks : std::vector<FallbackUse>{})
      add({fallback_text(use), "", "", "an operation that MPS has"});
  }
  const std::optional<Survey>& survey = facts.evidence.survey;
  for (const SurveyPackage& package : survey ? survey->packages : std::vector<SurveyPackage>{}) {
    if (package.package_class == PackageClass::portable || package.need == Need::unused || proven_by_run(facts, package))
      continue;
    const std::vector<SurveyPlace>& places = package.imported.empty() ? package.declared : package.imported;
    add({"package " + package.name + (package.why.empty() ? "" : ": " + package.why),
         places.empty() ? "" : place(places.front().file, places.front().line), effort(package.effort), package.alternative});
  }
  for (const SurveySignal& signal : survey ? survey->signals : std::vector<SurveySignal>{}) {
    if (signal.severity < Severity::fix || signal.guarded || signal.reach == Reach::not_reached)
      continue;
    add({signal.construct + (signal.effect.empty() ? "" : ": " + signal.effect), place(signal.file, signal.line), "",
         signal.instead});
  }
  return out;
}

} // namespace remotemac::verdict
