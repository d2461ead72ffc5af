// The worker's checks: the battery by group, and the replay of the project's own operations.
#include "cli/report/display.h"
#include "cli/report/parts.h"
#include "cli/report/sections.h"

#include <algorithm>
#include <array>

namespace remotemac::report {
namespace {
constexpr std::size_t k_max_groups = 60;
constexpr std::size_t k_max_failures = 20;

struct Tally {
  std::uint64_t pass = 0;
  std::uint64_t note = 0;
  std::uint64_t failed = 0; // fail, crash, hang
  std::uint64_t not_tested = 0;
};

void count_finding(const WorkerFinding& finding, Tally& tally) {
  switch (finding.status) {
  case FindingStatus::pass:
    ++tally.pass;
    break;
  case FindingStatus::note:
    ++tally.note;
    break;
  case FindingStatus::not_tested:
    ++tally.not_tested;
    break;
  case FindingStatus::fail:
  case FindingStatus::crash:
  case FindingStatus::hang:
    ++tally.failed;
    break;
  }
}

bool failed(const WorkerFinding& finding) {
  return finding.status == FindingStatus::fail || finding.status == FindingStatus::crash ||
         finding.status == FindingStatus::hang;
}

std::string error_text(const NumericError& error) {
  std::string text = "off by " + real(error.max_abs) + " absolute, " + real(error.max_rel) + " relative";
  if (error.reference_max_rel)
    text += " (CPU in the same dtype: " + real(error.reference_max_rel) + ")";
  if (error.elements != 0)
    text += "; " + number(error.mismatches) + " of " + number(error.elements) + " elements";
  return text;
}

std::string version_note(const WorkerDocument& worker) {
  if (worker.torch_running.empty())
    return {};
  std::string text = " with torch " + tidy(worker.torch_running, 60);
  if (worker.torch_built_for != worker.torch_running)
    text += " (the worker was built for " + tidy(worker.torch_built_for, 60) + ")";
  return text;
}

void add_groups(const WorkerDocument& battery, Document& out) {
  std::map<std::string, Tally> tallies;
  for (const WorkerFinding& finding : battery.findings)
    count_finding(finding, tallies[finding.group]);
  Table table{{{"group", false},
               {"status", false},
               {"pass", true},
               {"note", true},
               {"fail", true},
               {"not tested", true},
               {"time", true}},
              {}};
  for (std::size_t i = 0; i < std::min(k_max_groups, battery.groups.size()); ++i) {
    const WorkerGroup& group = battery.groups[i];
    const Tally tally = tallies[group.name];
    table.rows.push_back({cell(group.name),
                          cell(name_of(group.status), group.status == GroupStatus::ok ? Tone::good : Tone::bad),
                          number_cell(tally.pass),
                          number_cell(tally.note),
                          {words(number(tally.failed), tally.failed == 0 ? Tone::faint : Tone::bad)},
                          number_cell(tally.not_tested),
                          {words(seconds(group.seconds))}});
  }
  if (!table.rows.empty())
    out.push_back(std::move(table));
  add_rest(battery.groups.size(), k_max_groups, "groups", out);
}

// Groups whose process ended badly: where they were.
void add_broken_groups(const WorkerDocument& battery, Document& out) {
  List list;
  std::size_t total = 0;
  for (const WorkerGroup& group : battery.groups) {
    if (group.status == GroupStatus::ok || group.status == GroupStatus::not_run || ++total > k_max_failures)
      continue;
    Item item{{said(group.name, Tone::strong), words(": "), said(name_of(group.status), Tone::bad)}, {}};
    if (group.signal)
      item.text.push_back(words(", signal " + std::to_string(*group.signal)));
    else if (group.exit_code)
      item.text.push_back(words(", exit status " + std::to_string(*group.exit_code)));
    if (!group.last_case.empty()) {
      item.text.push_back(words(", in the case "));
      item.text.push_back(code(group.last_case));
    }
    if (!group.stderr_tail.empty())
      item.below.push_back({words("It said: "), said(group.stderr_tail)});
    list.items.push_back(std::move(item));
  }
  if (!list.items.empty())
    out.push_back(std::move(list));
  add_rest(total, k_max_failures, "groups that ended badly", out);
}

Item failure_item(const WorkerFinding& finding) {
  Item item{{code(finding.op.empty() ? finding.id : finding.op), words(" "), said(name_of(finding.status), Tone::bad),
             words(", case "), code(finding.case_name)},
            {}};
  if (!finding.detail.empty())
    item.below.push_back({said(finding.detail)});
  if (finding.error)
    item.below.push_back({words(error_text(*finding.error))});
  return item;
}

// Every failure by name; those that can be reproduced with their lines, on a screen only the first.
void add_failures(const WorkerDocument& battery, Detail detail, Document& out) {
  std::vector<const WorkerFinding*> failures;
  for (const WorkerFinding& finding : battery.findings) {
    if (failed(finding))
      failures.push_back(&finding);
  }
  if (failures.empty())
    return;
  out.push_back(paragraph({words("What failed:", Tone::bad)}));
  List list;
  for (std::size_t i = 0; i < std::min(k_max_failures, failures.size()); ++i)
    list.items.push_back(failure_item(*failures[i]));
  out.push_back(std::move(list));
  add_rest(failures.size(), k_max_failures, "failures", out);
  const std::size_t limit = detail == Detail::screen ? 1 : 10;
  std::size_t shown = 0;
  for (const WorkerFinding* failure : failures) {
    if (failure->reproduce.empty() || shown == limit)
      continue;
    ++shown;
    out.push_back(paragraph({words("To reproduce "), code(failure->op.empty() ? failure->id : failure->op),
                             words(", case "), code(failure->case_name), words(", in the project's Python:")}));
    out.push_back(Code{"python", tidy_code(failure->reproduce)});
  }
  const auto able = static_cast<std::size_t>(
      std::ranges::count_if(failures, [](const WorkerFinding* each) { return !each->reproduce.empty(); }));
  if (able > shown)
    out.push_back(remark("How to reproduce the others: see the " +
                         std::string(detail == Detail::screen ? "Markdown" : "JSON") + " report."));
}

Tone tone_of(ReplayStatus status) {
  if (status == ReplayStatus::native)
    return Tone::good;
  return status == ReplayStatus::fallback || status == ReplayStatus::not_tested ? Tone::warning : Tone::bad;
}

void add_replayed(const WorkerDocument& replay, Document& out) {
  std::vector<const ReplayedSignature*> rest;
  for (const ReplayedSignature& each : replay.replay) {
    if (each.status != ReplayStatus::native)
      rest.push_back(&each);
  }
  if (rest.empty())
    return;
  const auto weight = [](const ReplayedSignature* each) { return tone_of(each->status) == Tone::bad ? 0 : 1; };
  std::ranges::stable_sort(rest, {}, weight);
  Table table{{{"not native", false}, {"status", false}, {"calls", true}, {"what happened", false}}, {}};
  for (std::size_t i = 0; i < std::min(k_max_failures, rest.size()); ++i) {
    const ReplayedSignature& each = *rest[i];
    std::string detail = tidy(each.detail);
    if (each.error)
      detail += (detail.empty() ? "" : "; ") + error_text(*each.error);
    table.rows.push_back(
        {code_cell(each.op), cell(name_of(each.status), tone_of(each.status)), number_cell(each.calls), cell(detail)});
  }
  out.push_back(std::move(table));
  add_rest(rest.size(), k_max_failures, "signatures", out);
}
} // namespace

Document battery_section(const Source& source) {
  if (!source.evidence.battery)
    return {};
  const WorkerDocument& battery = *source.evidence.battery;
  Tally all;
  for (const WorkerFinding& finding : battery.findings)
    count_finding(finding, all);
  Document out;
  const std::string profile = tidy(battery.profile, 40);
  out.push_back(paragraph({words((profile.empty() ? "" : "Profile " + profile + ", ") + "device " +
                                 tidy(battery.device, 40) + version_note(battery) + ": " + number(all.pass) +
                                 " passed, " + number(all.note) + " passed in the relaxed band, "),
                           words(number(all.failed) + " failed", all.failed == 0 ? Tone::plain : Tone::bad),
                           words(", " + number(all.not_tested) + " not tested.")}));
  add_groups(battery, out);
  add_broken_groups(battery, out);
  add_failures(battery, source.detail, out);
  return out;
}

Document replay_section(const Source& source) {
  if (!source.evidence.replay)
    return {};
  const WorkerDocument& replay = *source.evidence.replay;
  struct Sum {
    std::uint64_t signatures = 0;
    std::uint64_t calls = 0;
  };
  std::array<Sum, 7> sums{};
  for (const ReplayedSignature& each : replay.replay) {
    Sum& sum = sums.at(static_cast<std::size_t>(each.status));
    ++sum.signatures;
    sum.calls += each.calls;
  }
  Document out;
  out.push_back(paragraph({words(count(replay.replay.size(), "distinct operation", "distinct operations") +
                                 " of the recorded reference run, repeated on device " + tidy(replay.device, 40) +
                                 version_note(replay) + ":")}));
  Table table{{{"status", false}, {"signatures", true}, {"calls in the run", true}}, {}};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto status = static_cast<ReplayStatus>(i);
    if (sums[i].signatures != 0)
      table.rows.push_back(
          {cell(name_of(status), tone_of(status)), number_cell(sums[i].signatures), number_cell(sums[i].calls)});
  }
  if (!table.rows.empty())
    out.push_back(std::move(table));
  add_broken_groups(replay, out);
  add_replayed(replay, out);
  return out;
}

} // namespace remotemac::report
