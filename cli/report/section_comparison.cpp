// Run against reference: the conditions first, because unlike conditions make every difference of outputs meaningless.
#include "cli/report/display.h"
#include "cli/report/parts.h"
#include "cli/report/sections.h"

#include <algorithm>
#include <tuple>

namespace remotemac::report {
namespace {
constexpr std::size_t k_max_rows = 15;

void add_conditions(const Comparison& comparison, Document& out) {
  std::size_t same = 0;
  std::vector<const ConditionPair*> rest;
  for (const ConditionPair& pair : comparison.conditions) {
    if (pair.status == ConditionStatus::same)
      ++same;
    else
      rest.push_back(&pair);
  }
  std::ranges::stable_sort(rest, {}, [](const ConditionPair* pair) { return std::tuple(pair->weight, pair->status); });
  const Tone tone = comparison.alikeness == Alikeness::alike ? Tone::good : Tone::warning;
  out.push_back(
      paragraph({words("Conditions: ", Tone::strong), said(name_of(comparison.alikeness), tone),
                 words("; " + number(same) + " the same, " + number(rest.size()) + " different or not recorded.")}));
  if (rest.empty())
    return;
  Table table{{{"condition", false}, {"host", false}, {"reference", false}, {"weight", false}, {"meaning", false}}, {}};
  for (std::size_t i = 0; i < std::min(k_max_rows, rest.size()); ++i) {
    const ConditionPair& pair = *rest[i];
    const bool decides = pair.weight == ConditionWeight::decides;
    table.rows.push_back({cell(pair.name), cell(pair.run), cell(pair.reference),
                          cell(name_of(pair.weight), decides ? Tone::warning : Tone::plain), cell(pair.note)});
  }
  out.push_back(std::move(table));
  add_rest(rest.size(), k_max_rows, "conditions", out);
}

bool is_good(OutputStatus status) {
  return status == OutputStatus::equal || status == OutputStatus::relaxed;
}

Tone tone_of(OutputStatus status) {
  if (status == OutputStatus::equal)
    return Tone::good;
  return is_good(status) || status == OutputStatus::not_compared ? Tone::warning : Tone::bad;
}

std::string tolerance(const OutputPair& pair) {
  if (!pair.tolerance_abs && !pair.tolerance_rel)
    return {};
  return real(pair.tolerance_abs) + " + " + real(pair.tolerance_rel) + " rel" +
         (pair.tolerance_source == "declared" ? ", declared" : "");
}

std::string remarks(const OutputPair& pair) {
  std::string text = tidy(pair.detail);
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (pair.status == OutputStatus::shape_differs)
    add(tidy(pair.shape_run, 80) + " against " + tidy(pair.shape_reference, 80));
  if (pair.mismatches != 0)
    add(number(pair.mismatches) + " of " + number(pair.elements) + " elements outside");
  if (pair.nan_pattern_differs)
    add(number(pair.nan_run) + " NaN against " + number(pair.nan_reference) + " in the reference");
  return text;
}

std::string label(const OutputPair& pair) {
  return tidy(pair.file, 200) + (pair.key.empty() ? "" : ": " + tidy(pair.key, 200));
}

void add_outputs(const Comparison& comparison, Document& out) {
  if (!comparison.not_compared_because.empty()) {
    out.push_back(
        paragraph({words("Outputs were not compared: ", Tone::warning), said(comparison.not_compared_because)}));
    return;
  }
  const std::uint64_t total = std::max<std::uint64_t>(comparison.outputs_total, comparison.outputs.size());
  Inline text{words("Outputs: ", Tone::strong), words(count(total, "value or array", "values and arrays"))};
  for (const auto& [status, times] : comparison.counts) {
    if (times != 0)
      text.push_back(words(", " + number(times) + " " + tidy(status, 40)));
  }
  text.push_back(words(total == 0 ? "; nothing to compare." : ". The worst first:"));
  out.push_back(paragraph(std::move(text)));
  std::vector<const OutputPair*> pairs;
  for (const OutputPair& pair : comparison.outputs)
    pairs.push_back(&pair);
  std::ranges::stable_sort(pairs, [](const OutputPair* a, const OutputPair* b) {
    const auto rank = [](const OutputPair* pair) {
      return is_good(pair->status) ? 2 : pair->status == OutputStatus::not_compared ? 1 : 0;
    };
    return std::tuple(rank(a), -a->max_rel.value_or(0), -a->max_abs.value_or(0)) <
           std::tuple(rank(b), -b->max_rel.value_or(0), -b->max_abs.value_or(0));
  });
  Table table{{{"output", false},
               {"status", false},
               {"max abs", true},
               {"max rel", true},
               {"tolerance", false},
               {"remarks", false}},
              {}};
  for (std::size_t i = 0; i < std::min(k_max_rows, pairs.size()); ++i) {
    const OutputPair& pair = *pairs[i];
    table.rows.push_back({code_cell(label(pair)),
                          cell(name_of(pair.status), tone_of(pair.status)),
                          {words(real(pair.max_abs))},
                          {words(real(pair.max_rel))},
                          cell(tolerance(pair)),
                          cell(remarks(pair))});
  }
  if (!table.rows.empty())
    out.push_back(std::move(table));
  add_rest(total, std::min(k_max_rows, pairs.size()), "outputs", out);
}
} // namespace

Document comparison_section(const Source& source) {
  Document out;
  if (!source.evidence.comparison) {
    if (const auto why = source.evidence.absent.find("comparison"); why != source.evidence.absent.end())
      out.push_back(paragraph({words("Not made: ", Tone::warning), said(why->second)}));
    return out;
  }
  add_conditions(*source.evidence.comparison, out);
  add_outputs(*source.evidence.comparison, out);
  return out;
}

} // namespace remotemac::report
