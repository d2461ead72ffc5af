#pragma once
// The comparison of a run with its reference: conditions first, then every number of every output (docs/evidence.md,
// "comparison").
// Not for judging: a verdict is made from the result by cli/verdict. Pure, safe from any thread, bounded memory: at most
// one array
// of each side is unpacked at a time and long lists are cut (Comparison::outputs_total tells the truth). Never fails: what
// cannot be
// read is a finding of its own. Files may come from a hostile host.
#include "common/evidence.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::compare {

using Files = std::map<std::string, std::string>; // name below the project -> bytes

// What the project declares for one "file:key"; a part that is not given stays as the data type has it.
struct Tolerance {
  std::optional<double> absolute;
  std::optional<double> relative;
};

struct Input {
  const HarnessDocument* run = nullptr;       // null: left no document
  const HarnessDocument* reference = nullptr; // null: left no document
  Files run_files;
  Files reference_files;
  bool same_project = false; // the approved files have one digest
  bool same_command = true;  // command and declared environment; a reference of another command is not even looked at
  std::vector<std::string> names; // outputs that the project declares
  // By "file:key"; a key covers what lies below it ("loss" covers "loss.3").
  std::map<std::string, Tolerance> tolerances;
};

[[nodiscard]] Comparison compare(const Input& input);

} // namespace remotemac::compare
