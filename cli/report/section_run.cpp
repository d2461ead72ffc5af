// The mini-runs: where operations ran, what fell back, how long a step took.
#include "cli/report/display.h"
#include "cli/report/parts.h"
#include "cli/report/sections.h"

#include <algorithm>
#include <cmath>

namespace remotemac::report {
namespace {
constexpr std::size_t k_max_bars = 8;
constexpr std::size_t k_max_rows = 12;

void add_outcomes(const Evidence& e, Document& out) {
  List list;
  const auto add = [&](std::string label, const std::optional<HarnessDocument>& run, const std::string& part) {
    Inline text{words(std::move(label), Tone::strong), words(": ")};
    if (run) {
      const Inline outcome = outcome_text(*run);
      text.insert(text.end(), outcome.begin(), outcome.end());
    } else {
      const auto why = e.absent.find(part);
      text.push_back(words("was not made", Tone::warning));
      if (why != e.absent.end())
        text.push_back(said(": " + why->second));
    }
    list.items.push_back({std::move(text), {}});
  };
  add("strict (no fallback to the CPU)", e.strict, "strict");
  add("permissive (fallbacks allowed and named)", e.permissive, "permissive");
  out.push_back(std::move(list));
}

void add_devices(const HarnessDocument& run, Document& out) {
  Table table{{{"device", false}, {"operations", true}, {"distinct", true}, {"outputs", true}, {"parameters", true}},
              {}};
  std::vector<std::string> devices;
  for (const auto& [device, use] : run.device_use)
    devices.push_back(device);
  for (const auto& [device, parameters] : run.parameters) {
    if (!run.device_use.contains(device))
      devices.push_back(device);
  }
  devices.resize(std::min(devices.size(), k_max_rows));
  for (const std::string& device : devices) {
    const auto use = run.device_use.find(device);
    const auto parameters = run.parameters.find(device);
    const DeviceUse zero;
    const DeviceUse& shown = use == run.device_use.end() ? zero : use->second;
    table.rows.push_back({code_cell(device),
                          number_cell(shown.operations),
                          number_cell(shown.distinct),
                          {words(bytes(shown.outputs_bytes))},
                          number_cell(parameters == run.parameters.end() ? 0 : parameters->second)});
  }
  if (table.rows.empty())
    out.push_back(remark("No operation was recorded."));
  else
    out.push_back(std::move(table));
}

void add_operator_bars(const HarnessDocument& run, Document& out) {
  std::vector<const OperationUse*> operations;
  double total = 0;
  for (const OperationUse& use : run.operations) {
    if (!std::isfinite(use.time_s) || use.time_s <= 0)
      continue;
    operations.push_back(&use);
    total += use.time_s;
  }
  if (total <= 0)
    return;
  std::ranges::stable_sort(operations, std::ranges::greater{}, &OperationUse::time_s);
  Bars bars{{}, total};
  for (std::size_t i = 0; i < std::min(k_max_bars, operations.size()); ++i) {
    const OperationUse& use = *operations[i];
    const std::string mark = use.kind == OperationKind::fallback ? ", fallback" : "";
    bars.bars.push_back(
        {tidy(use.name, 120) + " (" + tidy(use.device, 20) + mark + ")", use.time_s, percent(use.time_s / total)});
  }
  out.push_back(paragraph({words("Share of the time spent in operations, the largest:")}));
  out.push_back(std::move(bars));
}

void add_fallbacks(const Evidence& e, Document& out) {
  const HarnessDocument* run = e.permissive ? &*e.permissive : nullptr;
  if (run == nullptr)
    return;
  if (run->fallbacks.empty()) {
    out.push_back(paragraph({words("No operation fell back to the CPU in the permissive run.")}));
    return;
  }
  std::vector<const FallbackUse*> fallbacks;
  double share = 0;
  for (const FallbackUse& use : run->fallbacks) {
    fallbacks.push_back(&use);
    share += use.share.value_or(0);
  }
  std::ranges::stable_sort(fallbacks, std::ranges::greater{}, &FallbackUse::time_s);
  out.push_back(paragraph(
      {words(count(fallbacks.size(), "operation", "operations") + " fell back to the CPU, together ", Tone::warning),
       words(percent(share), Tone::warning), words(" of the time spent in operations:")}));
  Table table{{{"falls back", false}, {"calls", true}, {"time", true}, {"share", true}}, {}};
  for (std::size_t i = 0; i < std::min(k_max_rows, fallbacks.size()); ++i) {
    const FallbackUse& use = *fallbacks[i];
    table.rows.push_back({code_cell(use.op),
                          number_cell(use.calls),
                          {words(seconds(use.time_s))},
                          {words(use.share ? percent(*use.share) : "-")}});
  }
  out.push_back(std::move(table));
  add_rest(fallbacks.size(), k_max_rows, "fallbacks", out);
}

void add_unsupported(const Evidence& e, Document& out) {
  List list;
  std::vector<std::string> seen;
  for (const auto* run : {&e.strict, &e.permissive}) {
    if (!*run)
      continue;
    for (const UnsupportedUse& use : (*run)->unsupported) {
      const std::string place = place_of(use.file, use.line);
      const std::string key = use.op + "\n" + place + "\n" + use.message;
      if (std::ranges::find(seen, key) != seen.end())
        continue;
      seen.push_back(key);
      if (list.items.size() == k_max_rows)
        continue;
      Item item{{use.op.empty() ? words("a dtype that the device does not have") : code(use.op)}, {}};
      if (!place.empty()) {
        item.text.push_back(words(" at "));
        item.text.push_back(code(place));
      }
      if (!use.message.empty())
        item.below.push_back({said(use.message)});
      list.items.push_back(std::move(item));
    }
  }
  if (list.items.empty())
    return;
  out.push_back(paragraph({words("The device refused:", Tone::bad)}));
  out.push_back(std::move(list));
  add_rest(seen.size(), k_max_rows, "refusals", out);
}

std::optional<double> step_time(const HarnessDocument* run) {
  if (run == nullptr || !run->timing.step_median_s || !std::isfinite(*run->timing.step_median_s) ||
      *run->timing.step_median_s <= 0)
    return std::nullopt;
  return run->timing.step_median_s;
}

void add_step_bars(const Evidence& e, const HarnessDocument* run, const HarnessDocument* reference, Document& out) {
  Bars bars;
  for (const HarnessDocument* each : {run, reference}) {
    if (const std::optional<double> time = step_time(each))
      bars.bars.push_back({run_label(e, *each), *time, seconds(*time)});
  }
  if (bars.bars.empty()) {
    out.push_back(remark("No time per step: the run made no optimiser steps that could be seen."));
    return;
  }
  out.push_back(paragraph({words("Median time per step, with the instruments of the harness on:")}));
  out.push_back(std::move(bars));
  const std::optional<double> mine = step_time(run);
  const std::optional<double> theirs = step_time(reference);
  if (mine && theirs)
    out.push_back(paragraph({words("A step on the host took "), words(real(*mine / *theirs) + " times", Tone::strong),
                             words(" the time on the reference.")}));
}
} // namespace

Document placement_section(const Source& source) {
  const Evidence& e = source.evidence;
  if (!e.strict && !e.permissive)
    return {};
  Document out;
  add_outcomes(e, out);
  const HarnessDocument* run = counted_run(e);
  if (run != nullptr) {
    out.push_back(paragraph({words("Numbers of the run on the " + run_label(e, *run) + ":")}));
    add_devices(*run, out);
    add_operator_bars(*run, out);
  }
  add_fallbacks(e, out);
  add_unsupported(e, out);
  return out;
}

Document time_section(const Source& source) {
  const Evidence& e = source.evidence;
  const HarnessDocument* run = counted_run(e);
  if (run == nullptr)
    return {};
  const HarnessDocument* reference = reference_run(e);
  Document out;
  add_step_bars(e, run, reference, out);
  Table table{{{"run", false}, {"steps", true}, {"first step", true}, {"90 % below", true}, {"whole run", true}}, {}};
  const auto time = [](const std::optional<double>& value) { return Inline{words(value ? seconds(*value) : "-")}; };
  for (const HarnessDocument* each : {run, reference}) {
    if (each != nullptr)
      table.rows.push_back({{words(run_label(e, *each))},
                            number_cell(each->timing.steps),
                            time(each->timing.first_step_s),
                            time(each->timing.step_p90_s),
                            time(each->timing.wall_s)});
  }
  out.push_back(std::move(table));
  if (reference == nullptr)
    out.push_back(remark("There is no reference run to hold these times against."));
  if (is_simulated(e))
    out.push_back(remark("The times are those of a simulated backend: they say nothing about a Mac."));
  return out;
}

} // namespace remotemac::report
