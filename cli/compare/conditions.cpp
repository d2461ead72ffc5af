#include "cli/compare/conditions.h"

#include "common/text.h"

#include <algorithm>
#include <set>

namespace remotemac::compare {
namespace {

constexpr std::size_t k_max_shown_bytes = 300;
constexpr const char* k_none = "none";

// One side's answer: nullopt = not recorded.
using Answer = std::optional<std::string>;
using Question = Answer (*)(const HarnessDocument& document);

template <typename T> std::string listed(const T& texts) {
  const std::vector<std::string> all(texts.begin(), texts.end());
  return all.empty() ? k_none : join(all, ", ");
}

Answer of_text(const std::string& text) { return text.empty() ? Answer() : Answer(text); }
Answer of_flag(const std::optional<bool>& flag) { return flag ? Answer(*flag ? "yes" : "no") : Answer(); }

// Numbers in ascending order, each once: the order in which loaders were made does not matter.
Answer of_numbers(const std::vector<std::int64_t>& numbers) {
  const std::set<std::int64_t> sorted(numbers.begin(), numbers.end());
  std::vector<std::string> out;
  for (const std::int64_t number : sorted)
    out.push_back(std::to_string(number));
  return listed(out);
}

// torch.cuda.manual_seed and torch.mps.manual_seed seed what differs anyway; the condition rng-devices tells of it.
bool is_device_seed(const SeedUse& seed) { return seed.api.starts_with("torch.cuda.") || seed.api.starts_with("torch.mps."); }

Answer seeds(const HarnessDocument& document) {
  std::set<std::string> out;
  for (const SeedUse& seed : document.conditions->seeds)
    if (!is_device_seed(seed))
      out.insert(seed.api + "(" + seed.value + ")");
  const bool draws = !document.conditions->rng_devices.empty();
  return out.empty() && draws ? Answer() : Answer(listed(out)); // random numbers without a seed: nobody knows which
}

Answer rng_devices(const HarnessDocument& document) {
  return listed(std::set<std::string>(document.conditions->rng_devices.begin(), document.conditions->rng_devices.end()));
}

// By dtype only: that the device differs is the point of the run.
Answer autocast(const HarnessDocument& document) {
  std::set<std::string> out;
  for (const AutocastUse& use : document.conditions->autocast)
    out.insert(use.dtype);
  return listed(out);
}

Answer default_dtype(const HarnessDocument& document) { return of_text(document.conditions->default_dtype); }
Answer matmul_precision(const HarnessDocument& document) { return of_text(document.conditions->float32_matmul_precision); }
Answer tf32(const HarnessDocument& document) { return of_flag(document.conditions->allow_tf32); }
Answer deterministic(const HarnessDocument& document) { return of_flag(document.conditions->deterministic); }
Answer cudnn_benchmark(const HarnessDocument& document) { return of_flag(document.conditions->cudnn_benchmark); }
Answer compiled(const HarnessDocument& document) { return of_flag(document.conditions->compile_used); }
Answer batch_sizes(const HarnessDocument& document) { return of_numbers(document.conditions->batch_sizes); }
Answer workers(const HarnessDocument& document) { return of_numbers(document.conditions->dataloader_workers); }
Answer threads(const HarnessDocument& document) {
  return document.conditions->threads ? Answer(std::to_string(*document.conditions->threads)) : Answer();
}

// Without the build suffix (+cpu, +cu128), which differs between machines by design.
Answer torch_version(const HarnessDocument& document) { return of_text(document.torch.version.substr(0,
    document.torch.version.find('+'))); }
Answer torch_build(const HarnessDocument& document) { return of_text(document.torch.git_version); }
Answer python_version(const HarnessDocument& document) { return of_text(document.python.version); }

Answer numpy_version(const HarnessDocument& document) {
  for (const PackageVersion& package : document.packages)
    if (to_lower_ascii(package.name) == "numpy")
      return of_text(package.version);
  return document.packages.empty() ? Answer() : Answer("not installed");
}

// Which variables steer only one device; the run and the reference cannot have them in common.
bool is_device_variable(const std::string& name) {
  for (const std::string_view prefix : {"PYTORCH_MPS_", "PYTORCH_ENABLE_MPS_", "PYTORCH_CUDA_", "CUDA_", "CUBLAS_", "MTL_"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

Answer variables(const HarnessDocument& document) {
  std::vector<std::string> out;
  for (const auto& [name, value] : document.environment.after)
    if (!is_device_variable(name))
      out.push_back(name + "=" + value);
  return listed(out);
}

struct Row {
  const char* name;
  ConditionWeight weight;
  bool of_run; // asks document.conditions, which a run that broke off early does not have
  Question question;
  const char* when_different;
  const char* when_missing = "";
};

constexpr auto k_decides = ConditionWeight::decides;
constexpr auto k_noted = ConditionWeight::noted;

// The one vocabulary of conditions, after "project-files" and "command". What decides makes two runs unlike, because it changes
// which numbers are computed; what is noted may change how they are rounded.
constexpr Row k_rows[] = {
    {"seeds", k_decides, true, seeds, "other seeds give other random numbers",
        "random numbers were drawn without a seed: set one, for example torch.manual_seed(0)"},
    {"rng-devices", k_decides, true, rng_devices,
        "the same seed gives other random numbers on another device; draw them on the CPU and move them"},
    {"default-dtype", k_decides, true, default_dtype, "the two runs computed in different precision"},
    {"matmul-precision", k_decides, true, matmul_precision, "matrix products had different precision"},
    {"tf32", k_decides, true, tf32,
        "TF32 keeps 10 bits of the mantissa; make the reference with TF32 switched off for matrix products and cuDNN"},
    {"autocast", k_decides, true, autocast, "mixed precision was not the same"},
    {"batch-sizes", k_decides, true, batch_sizes, "another batch size is another path of optimisation"},
    {"dataloader-workers", k_decides, true, workers, "the number of workers changes which random numbers are drawn"},
    {"deterministic", k_noted, true, deterministic, "deterministic algorithms were asked for on one side only"},
    {"cudnn-benchmark", k_noted, true, cudnn_benchmark, "cuDNN chooses its algorithms by speed on one side only"},
    {"compile", k_noted, true, compiled, "torch.compile was used on one side only"},
    {"threads", k_noted, true, threads, "sums are split differently"},
    {"torch-version", k_decides, false, torch_version,
        "results are not promised across releases; install the same one on both sides"},
    {"torch-build", k_noted, false, torch_build, "the same release from different sources"},
    {"numpy-version", k_noted, false, numpy_version, "another NumPy"},
    {"python-version", k_noted, false, python_version, "another Python"},
    {"environment", k_noted, false, variables, "variables that steer PyTorch differ"},
};

Answer ask(const Row& row, const HarnessDocument* document) {
  if (document == nullptr || (row.of_run && !document->conditions))
    return std::nullopt;
  return row.question(*document);
}

ConditionPair compare_row(const Row& row, const Input& input) {
  const Answer run = ask(row, input.run);
  const Answer reference = ask(row, input.reference);
  ConditionPair out;
  out.name = row.name;
  out.weight = row.weight;
  out.run = clean_line(run.value_or(""), k_max_shown_bytes);
  out.reference = clean_line(reference.value_or(""), k_max_shown_bytes);
  if (run && reference) {
    out.status = *run == *reference ? ConditionStatus::same : ConditionStatus::different;
    out.note = out.status == ConditionStatus::same ? "" : row.when_different;
    return out;
  }
  out.status = ConditionStatus::missing;
  const auto documented = [](const HarnessDocument* document) { return document != nullptr && document->conditions; };
  const bool explained = row.when_missing[0] != '\0' && documented(input.run) && documented(input.reference);
  const char* side = !run && !reference ? "either side" : run ? "the reference's side" : "the run's side";
  out.note = explained ? row.when_missing : std::string("not recorded on ") + side;
  return out;
}

ConditionPair flag_pair(const char* name, bool same, const char* when_different) {
  ConditionPair out;
  out.name = name;
  out.weight = ConditionWeight::decides;
  out.status = same ? ConditionStatus::same : ConditionStatus::different;
  out.note = same ? "" : when_different;
  return out;
}

} // namespace

std::vector<ConditionPair> compare_conditions(const Input& input) {
  std::vector<ConditionPair> out;
  out.push_back(flag_pair("project-files", input.same_project,
      "the reference was made with other project files; make a new one with: remotemac reference"));
  out.push_back(flag_pair("command", input.same_command,
      "the reference was made with another command or environment; make a new one with: remotemac reference"));
  for (const Row& row : k_rows)
    out.push_back(compare_row(row, input));
  return out;
}

Alikeness alikeness_of(const std::vector<ConditionPair>& conditions) {
  const auto any = [&](ConditionStatus status) {
    return std::any_of(conditions.begin(), conditions.end(),
                       [&](const ConditionPair& each) { return each.weight == ConditionWeight::decides &&
                           each.status == status; });
  };
  if (any(ConditionStatus::different))
    return Alikeness::unlike;
  return any(ConditionStatus::missing) ? Alikeness::unknown : Alikeness::alike;
}

} // namespace remotemac::compare
