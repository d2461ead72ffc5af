// C7 outputs, C8 conditions, C11 numerics.
#include "cli/verdict/criteria.h"
#include "cli/verdict/judges.h"
#include "common/text.h"

#include <algorithm>
#include <array>

namespace remotemac::verdict {
namespace {

std::uint64_t with_status(const Comparison& comparison, OutputStatus status) {
  const auto in_list = static_cast<std::uint64_t>(std::ranges::count(comparison.outputs, status, &OutputPair::status));
  const auto counted_there = comparison.counts.find(std::string(name_of(status)));
  return counted_there == comparison.counts.end() ? in_list : std::max(in_list, counted_there->second);
}

std::string output_text(const OutputPair& o) {
  std::string out = o.file + (o.key.empty() ? "" : " " + o.key) + " is " + std::string(name_of(o.status));
  if (o.status == OutputStatus::outside)
    out += ": " + std::to_string(o.mismatches) + " of " + counted(o.elements, "element", "elements");
  else if (o.status == OutputStatus::shape_differs)
    out += ": " + o.shape_run + " against " + o.shape_reference;
  return out + (o.detail.empty() ? "" : " (" + clean_line(o.detail, 200) + ")") + ".";
}

// The worst few by name; the rest by number.
void name_outputs(Sheet& sheet, const Comparison& comparison, std::string_view cause_id, Status status,
                  std::span<const OutputStatus> which) {
  std::uint64_t named = 0;
  std::uint64_t all = 0;
  for (const OutputStatus each : which)
    all += with_status(comparison, each);
  for (const OutputPair& o : comparison.outputs) {
    if (named < 5 && std::ranges::find(which, o.status) != which.end()) {
      sheet.limit(cause_id, status, output_text(o));
      ++named;
    }
  }
  if (all > named)
    sheet.limit(cause_id, status,
                counted(all - named, "further output", "further outputs") +
                    (status == Status::fail ? " of the kind." : " not compared."));
}

void judge_pairs(Sheet& sheet, const Comparison& comparison) {
  constexpr std::array differing{OutputStatus::outside, OutputStatus::shape_differs, OutputStatus::type_differs,
                                 OutputStatus::missing_in_run};
  constexpr std::array open{OutputStatus::missing_in_reference, OutputStatus::unreadable, OutputStatus::not_compared};
  name_outputs(sheet, comparison, "outputs-differ", Status::fail, differing);
  name_outputs(sheet, comparison, "not-compared", Status::not_shown, open);
  const std::uint64_t equal = with_status(comparison, OutputStatus::equal);
  const std::uint64_t relaxed = with_status(comparison, OutputStatus::relaxed);
  if (equal + relaxed > 0)
    sheet.pass(counted(equal, "output", "outputs") + " within the tolerance, " + std::to_string(relaxed) +
               " within the relaxed one, of " +
               std::to_string(std::max<std::uint64_t>(comparison.outputs_total, comparison.outputs.size())) + ".");
  else if (comparison.outputs.empty())
    sheet.limit("not-compared", Status::not_shown, "The comparison holds no output.");
}

} // namespace

Criterion judge_outputs(const Facts& facts) {
  Sheet sheet("C7");
  const Evidence& e = facts.evidence;
  const auto absent = [&](const char* part) {
    const auto why = e.absent.find(part);
    return why == e.absent.end() ? std::string() : ": " + why->second;
  };
  if (!facts.reference_usable) {
    const bool there = e.reference && e.reference->run;
    sheet.limit("no-reference", Status::not_shown,
                there ? "The reference run did not end well: " + how_it_ended(*e.reference->run) + "."
                      : "There is no reference run" + absent("reference") + ".");
  } else if (!facts.reference_cuda) {
    sheet.limit("cpu-reference", Status::limited,
                "The reference run did no operation on CUDA: " + std::to_string(e.reference->run->operations_on("cpu")) +
                    " on the CPU.");
  } else {
    sheet.pass("The reference ran on CUDA: " + counted(e.reference->run->operations_on("cuda"), "operation", "operations") + ".");
  }
  if (!facts.works())
    sheet.limit(facts.failure, Status::not_shown, "No run came to its end on the device, so there is nothing to compare.");
  else if (!e.comparison)
    sheet.limit(facts.reference_usable ? "not-compared" : "no-reference", Status::not_shown,
                "No comparison was made" + absent("comparison") + ".");
  else if (!e.comparison->not_compared_because.empty())
    sheet.limit(e.comparison->alikeness == Alikeness::unlike ? "conditions-unlike" : "not-compared", Status::not_shown,
                "Outputs were not compared: " + e.comparison->not_compared_because + ".");
  else
    judge_pairs(sheet, *e.comparison);
  return std::move(sheet).take();
}

Criterion judge_conditions(const Facts& facts) {
  Sheet sheet("C8");
  const Evidence& e = facts.evidence;
  if (!facts.works()) {
    sheet.limit(facts.failure, Status::not_shown,
                "No run came to its end on the device; its conditions are not those of a whole run.");
    return std::move(sheet).take();
  }
  if (!e.comparison) {
    sheet.limit(facts.reference_usable ? "conditions-unknown" : "no-reference", Status::not_shown,
                "The conditions of run and reference were not compared.");
    return std::move(sheet).take();
  }
  for (const ConditionPair& pair : e.comparison->conditions) {
    const std::string text = "Condition " + pair.name + ": " + (pair.run.empty() ? "not recorded" : pair.run) + " in the run, " +
                             (pair.reference.empty() ? "not recorded" : pair.reference) + " in the reference" +
                             (pair.note.empty() ? "." : " (" + pair.note + ").");
    if (pair.status == ConditionStatus::same)
      continue;
    if (pair.weight == ConditionWeight::noted)
      sheet.note(text);
    else if (pair.status == ConditionStatus::different)
      sheet.limit("conditions-unlike", Status::fail, text);
    else
      sheet.limit("conditions-unknown", Status::not_shown, text);
  }
  const auto same = std::ranges::count(e.comparison->conditions, ConditionStatus::same, &ConditionPair::status);
  if (e.comparison->alikeness == Alikeness::alike && same > 0)
    sheet.pass(std::to_string(same) + " of " + counted(e.comparison->conditions.size(), "condition", "conditions") +
               " are the same on both sides.");
  else if (e.comparison->alikeness == Alikeness::unlike)
    sheet.limit("conditions-unlike", Status::fail, "The conditions of run and reference are unlike.");
  else
    sheet.limit("conditions-unknown", Status::not_shown,
                "It is not known whether the conditions of run and reference are alike.");
  return std::move(sheet).take();
}

namespace {

bool is_bad(FindingStatus status) {
  return status == FindingStatus::fail || status == FindingStatus::crash || status == FindingStatus::hang;
}
bool is_bad(ReplayStatus status) {
  return status == ReplayStatus::mismatch || status == ReplayStatus::crash || status == ReplayStatus::hang;
}

std::string_view without_build(std::string_view version) {
  return version.substr(0, version.find('+'));
}

void judge_battery(Sheet& sheet, const Facts& facts) {
  const std::optional<WorkerDocument>& battery = facts.evidence.battery;
  if (!battery) {
    const auto why = facts.evidence.absent.find("battery");
    sheet.limit("battery-incomplete", Status::not_shown,
                "The machine battery left no document" + (why == facts.evidence.absent.end() ? "" : ": " + why->second) + ".");
    return;
  }
  std::uint64_t passed = 0;
  std::uint64_t elsewhere = 0;
  for (const WorkerFinding& finding : battery->findings) {
    passed += finding.status == FindingStatus::pass || finding.status == FindingStatus::note ? 1U : 0U;
    if (!is_bad(finding.status))
      continue;
    if (facts.uses(finding.op))
      sheet.limit("numerics-wrong", Status::fail,
                  "Battery " + finding.id + ": " + std::string(name_of(finding.status)) +
                      (finding.detail.empty() ? "" : ", " + clean_line(finding.detail, 200)) + ".");
    else
      ++elsewhere;
  }
  for (const WorkerGroup& group : battery->groups) {
    if (group.status != GroupStatus::ok)
      sheet.limit("battery-incomplete", Status::not_shown,
                  "Battery group " + group.name + " ended with " + std::string(name_of(group.status)) +
                      (group.last_case.empty() ? "" : " at " + group.last_case) + ".");
  }
  if (passed == 0)
    sheet.limit("battery-incomplete", Status::not_shown, "No case of the machine battery passed.");
  const std::string_view there = without_build(battery->torch_running);
  const std::string_view in_run = facts.run != nullptr ? without_build(facts.run->torch.version) : std::string_view();
  if (!there.empty() && !in_run.empty() && there != in_run)
    sheet.limit("battery-incomplete", Status::not_shown,
                "The battery ran with torch " + std::string(there) + ", the project with " + std::string(in_run) + ".");
  if (elsewhere > 0)
    sheet.note(counted(elsewhere, "case fails", "cases fail") + " of operations that the project does not use.");
  sheet.pass("Battery: " + std::to_string(passed) + " of " + counted(battery->findings.size(), "case", "cases") + " passed.");
}

bool outputs_agree(const Facts& facts) {
  const std::optional<Comparison>& c = facts.evidence.comparison;
  return c && c->not_compared_because.empty() && !c->outputs.empty() && std::ranges::all_of(c->outputs, [](const OutputPair& o) {
           return o.status == OutputStatus::equal || o.status == OutputStatus::relaxed;
         });
}

void judge_replay(Sheet& sheet, const Facts& facts) {
  const std::optional<WorkerDocument>& replay = facts.evidence.replay;
  if (!replay || replay->replay.empty()) {
    const auto why = facts.evidence.absent.find("replay");
    sheet.limit(facts.reference_usable ? "replay-incomplete" : "no-reference", Status::not_shown,
                "The project's operations were not replayed" + (why == facts.evidence.absent.end() ? "" : ": " + why->second) +
                    ".");
    return;
  }
  std::uint64_t tested = 0;
  std::uint64_t open = 0;
  for (const ReplayedSignature& each : replay->replay) {
    const std::string text = "Replay of " + each.op + " (signature " + std::to_string(each.index) +
                             "): " + std::string(name_of(each.status)) +
                             (each.detail.empty() ? "" : ", " + clean_line(each.detail, 200)) + ".";
    if (is_bad(each.status) && facts.uses(each.op))
      sheet.limit("numerics-wrong", Status::fail, text);
    else if (is_bad(each.status))
      sheet.note(text + " The run does not use it on the device.");
    open += each.status == ReplayStatus::not_tested && facts.uses(each.op) ? 1U : 0U;
    tested += each.status == ReplayStatus::native ? 1U : 0U;
  }
  const std::string untested = counted(open, "signature was", "signatures were") + " not tested one by one";
  if (open > 0 && outputs_agree(facts) && tested > 0)
    sheet.open_note(untested + "; the run's outputs as a whole agree with the reference.");
  else if (open > 0)
    sheet.limit("replay-incomplete", Status::not_shown, untested + ".");
  if (tested == 0)
    sheet.limit("replay-incomplete", Status::not_shown, "No signature of the project was replayed with a right result.");
  else
    sheet.pass("Replay: " + std::to_string(tested) + " of " + counted(replay->replay.size(), "signature", "signatures") +
               " right and native.");
}

} // namespace

Criterion judge_numerics(const Facts& facts) {
  Sheet sheet("C11");
  judge_battery(sheet, facts);
  judge_replay(sheet, facts);
  if (facts.simulated)
    sheet.limit("simulated", Status::limited, "The numerics are those of the simulated device.");
  return std::move(sheet).take();
}

} // namespace remotemac::verdict
