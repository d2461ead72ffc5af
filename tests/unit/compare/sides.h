#pragma once
// Two harness documents that are alike in every condition, and an input made of them.
#include "archives.h"
#include "cli/compare/compare.h"

#include <algorithm>

namespace remotemac::test {

inline HarnessDocument alike_document() {
  HarnessDocument out;
  out.mode = "mini-run";
  out.torch.version = "2.15.0";
  out.torch.git_version = "abc";
  out.python.version = "3.12.1";
  out.packages = {{"numpy", "2.1.0"}, {"torch", "2.15.0"}};
  RunConditions conditions;
  conditions.seeds = {{"torch.manual_seed", "1"}};
  conditions.default_dtype = "float32";
  conditions.float32_matmul_precision = "highest";
  conditions.allow_tf32 = false;
  conditions.deterministic = false;
  conditions.cudnn_benchmark = false;
  conditions.compile_used = false;
  conditions.batch_sizes = {64};
  conditions.dataloader_workers = {0};
  conditions.threads = 4;
  conditions.rng_devices = {"cpu"};
  out.conditions = conditions;
  return out;
}

struct Sides {
  HarnessDocument run = alike_document();
  HarnessDocument reference = alike_document();
  compare::Input input;

  Comparison compare() {
    input.run = &run;
    input.reference = &reference;
    return compare::compare(input);
  }
  // The one file, on both sides.
  Comparison compare(const std::string& name, const std::string& of_run, const std::string& of_reference) {
    input.run_files = {{name, of_run}};
    input.reference_files = {{name, of_reference}};
    return compare();
  }
  Sides() { input.same_project = true; }
};

inline const ConditionPair* condition(const Comparison& comparison, const std::string& name) {
  for (const ConditionPair& each : comparison.conditions)
    if (each.name == name)
      return &each;
  return nullptr;
}

// The pair of a key; a default one with file "" when there is none.
inline OutputPair output(const Comparison& comparison, const std::string& key) {
  for (const OutputPair& each : comparison.outputs)
    if (each.key == key)
      return each;
  return {};
}

inline std::string npz_text(const std::vector<std::pair<std::string, Bytes>>& arrays) { return text_of(npz_file(arrays)); }
inline Bytes floats(const std::vector<float>& values, const std::string& shape) { return npy_file("<f4", shape,
    little_endian(values)); }

} // namespace remotemac::test
