#include "cli/compare/compare.h"

#include "cli/compare/conditions.h"
#include "cli/compare/readers.h"
#include "common/text.h"

#include <set>

namespace remotemac::compare {
namespace {

bool ends_with(const std::string& name, std::string_view end) { return to_lower_ascii(name).ends_with(end); }

void compare_file(const FilePair& files, const std::string& name, Collector& out) {
  if (ends_with(name, ".json"))
    return compare_json(files, out);
  if (ends_with(name, ".npy"))
    return compare_npy(files, out);
  if (ends_with(name, ".npz"))
    return compare_npz(files, out);
  if (files.run == files.reference)
    return out.add(pair_of(files, "", OutputStatus::equal, "the same bytes"));
  out.add(pair_of(files, "", OutputStatus::not_compared,
                  "the bytes differ, and files of this kind cannot be read; write .json, .npy or .npz to have numbers compared"));
}

// A file that one side, or neither, left behind. A declared output that is nowhere is missing in the run.
void add_missing(const FilePair& files, bool in_run, bool in_reference, Collector& out) {
  if (in_run)
    return out.add(pair_of(files, "", OutputStatus::missing_in_reference, "the reference run did not leave this file"));
  out.add(pair_of(files, "", OutputStatus::missing_in_run,
                  in_reference ? "the run did not leave this file" : "neither the run nor the reference left this file"));
}

void compare_outputs(const Input& input, Collector& out) {
  std::set<std::string> names(input.names.begin(), input.names.end());
  for (const Files* files : {&input.run_files, &input.reference_files})
    for (const auto& [name, bytes] : *files)
      names.insert(name);
  for (const std::string& name : names) {
    const auto run = input.run_files.find(name);
    const auto reference = input.reference_files.find(name);
    const bool in_run = run != input.run_files.end();
    const bool in_reference = reference != input.reference_files.end();
    FilePair files{name, {}, {}, &input.tolerances};
    if (in_run)
      files.run = run->second;
    if (in_reference)
      files.reference = reference->second;
    if (in_run && in_reference)
      compare_file(files, name, out);
    else
      add_missing(files, in_run, in_reference, out);
  }
}

std::string why_not_compared(const Comparison& comparison) {
  if (comparison.outputs_total == 0)
    return R"(the project names no outputs to compare; name some in remotemac.toml: [run] outputs = ["metrics.json"])";
  return {};
}

// Differences under unlike conditions say little about the machine; each says so itself, wherever it is shown.
void label(Comparison& comparison) {
  std::vector<std::string> names;
  for (const ConditionPair& each : comparison.conditions)
    if (each.weight == ConditionWeight::decides && each.status == ConditionStatus::different)
      names.push_back(each.name);
  const std::string text = "under unlike conditions (" + join(names, ", ") + ")";
  for (OutputPair& pair : comparison.outputs)
    pair.detail = pair.detail.empty() ? text : text + ": " + pair.detail;
}

} // namespace

Comparison compare(const Input& input) {
  Comparison out;
  out.conditions = compare_conditions(input);
  out.alikeness = alikeness_of(out.conditions);
  Collector collector;
  compare_outputs(input, collector);
  collector.write_to(out);
  out.not_compared_because = why_not_compared(out);
  if (out.alikeness == Alikeness::unlike)
    label(out);
  return out;
}

} // namespace remotemac::compare
