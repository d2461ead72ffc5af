// What left the workstation, and what nobody showed.
#include "cli/report/display.h"
#include "cli/report/parts.h"
#include "cli/report/sections.h"

#include <algorithm>

namespace remotemac::report {
namespace {
void add_gate(const GateSummary& gate, Document& out) {
  const bool allowed = gate.decision == "allowed";
  out.push_back(
      paragraph({words("The data policy "),
                 said(gate.decision.empty() ? "left no decision" : gate.decision, allowed ? Tone::good : Tone::bad),
                 words(allowed ? " the transfer: " : ": "),
                 words(count(gate.approved_files, "file", "files") + " (" + bytes(gate.approved_bytes) +
                       ") approved, " + number(gate.refused_files) + " refused, " + number(gate.excluded_files) +
                       " excluded, " + number(gate.not_proposed_files) + " not proposed.")}));
  Table classes{{{"class of data", false}, {"files", true}, {"size", true}}, {}};
  for (std::size_t i = 0; i < std::min<std::size_t>(gate.classes.size(), 20); ++i)
    classes.rows.push_back(
        {cell(gate.classes[i].name), number_cell(gate.classes[i].files), {words(bytes(gate.classes[i].bytes))}});
  if (!classes.rows.empty())
    out.push_back(std::move(classes));
  Table rules{{{"rule", false}, {"layer", false}, {"verdict", false}, {"files", true}}, {}};
  for (std::size_t i = 0; i < std::min<std::size_t>(gate.rules.size(), 15); ++i) {
    const GateRuleCount& rule = gate.rules[i];
    rules.rows.push_back({code_cell(rule.rule), cell(rule.layer), cell(rule.verdict), number_cell(rule.files)});
  }
  if (!rules.rows.empty())
    out.push_back(std::move(rules));
  add_rest(gate.rules.size(), 15, "rules", out);
}

void add_transfer(const TransferFacts& transfer, Document& out) {
  out.push_back(
      paragraph({words("Sent: ", Tone::strong),
                 words(bytes(transfer.bytes_sent) + " of " + bytes(transfer.bytes_total) + " in " +
                       count(transfer.files, "file", "files") + ", " + number(transfer.chunks_sent) + " chunks sent, " +
                       number(transfer.chunks_present) + " already there, in " + seconds(transfer.seconds) + ".")}));
}

void add_records(const Evidence& e, Document& out) {
  List list;
  const auto add = [&](std::string label, Inline text) {
    text.insert(text.begin(), words(std::move(label) + ": "));
    list.items.push_back({std::move(text), {}});
  };
  if (e.transfer)
    add("audit",
        {e.transfer->audited
             ? words("the record that allowed the transfer was on disk before the first byte left", Tone::good)
             : words("not shown that the record that allowed the transfer was on disk beforehand", Tone::warning)});
  if (e.transfer && !e.transfer->snapshot.empty())
    add("snapshot", {code(e.transfer->snapshot)});
  if (e.gate) {
    add("policy digest",
        {e.gate->policy_digest.empty() ? words("not recorded", Tone::warning) : code(e.gate->policy_digest)});
    std::string layers;
    for (const std::string& layer : e.gate->layers)
      layers += (layers.empty() ? "" : ", ") + tidy(layer, 60);
    if (!layers.empty())
      add("policy layers", {words(tidy(layers))});
    Inline keep{e.gate->retention_s == 0 ? words("not agreed", Tone::warning) : words(days(e.gate->retention_s))};
    if (e.job && !e.job->expires.empty())
      keep.push_back(said(", until " + e.job->expires));
    add("kept on the host", std::move(keep));
  }
  if (e.job && !e.job->network.empty())
    add("network of the job",
        {e.job->network == "none" ? words("not cut off", Tone::warning) : said("cut off (" + e.job->network + ")")});
  if (!list.items.empty())
    out.push_back(std::move(list));
}

std::string part_name(const std::string& part) {
  if (part == "strict" || part == "permissive")
    return part + " mini-run";
  if (part == "backend" || part == "battery")
    return part + " check";
  return tidy(part, 60);
}
} // namespace

Document left_section(const Source& source) {
  const Evidence& e = source.evidence;
  Document out;
  if (e.gate)
    add_gate(*e.gate, out);
  if (e.transfer)
    add_transfer(*e.transfer, out);
  else if (e.broke_off || e.gate)
    out.push_back(paragraph({words("No transfer is recorded.", Tone::warning)}));
  add_records(e, out);
  return out;
}

Document not_shown_section(const Source& source) {
  const Evidence& e = source.evidence;
  Document out;
  List list;
  // After a broken run nearly nothing was shown, and the reader knows it.
  const std::size_t limit = source.verdict.reached == verdict::Reached::yes ? 25 : 6;
  for (std::size_t i = 0; i < std::min(limit, source.verdict.not_shown.size()); ++i)
    list.items.push_back({{said(source.verdict.not_shown[i])}, {}});
  for (const auto& [part, why] : e.absent) {
    const bool told = std::ranges::any_of(source.verdict.not_shown,
                                          [&](const std::string& text) { return text.find(why) != std::string::npos; });
    if (!told && list.items.size() < 2 * limit)
      list.items.push_back({{words(part_name(part) + ": not made; ", Tone::plain), said(why)}, {}});
  }
  if (e.survey) {
    for (std::size_t i = 0; i < std::min<std::size_t>(10, e.survey->not_surveyed.size()); ++i)
      list.items.push_back({{words("not surveyed: "), code(e.survey->not_surveyed[i].what), words("; "),
                             said(e.survey->not_surveyed[i].reason)},
                            {}});
  }
  if (!list.items.empty())
    out.push_back(std::move(list));
  add_rest(source.verdict.not_shown.size(), limit, "points", out);
  if (e.survey)
    add_rest(e.survey->not_surveyed.size(), 10, "files that were not surveyed", out);
  return out;
}

} // namespace remotemac::report
