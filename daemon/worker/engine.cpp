#include "daemon/worker/engine.h"

#include "common/text.h"
#include "daemon/worker/comparison.h"
#include "daemon/worker/reproduce.h"
#include "daemon/worker/torch_compare.h"
#include "daemon/worker/torch_prepared.h"
#include "daemon/worker/torch_runtime.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace remotemac::worker {
namespace {

using Stage = std::function<void(std::string_view)>;

constexpr int k_timed_calls = 5;
constexpr std::chrono::milliseconds k_timing_budget{300};

std::string say(const ErrorStats& stats) {
  char text[160];
  std::snprintf(text, sizeof text, "%llu of %llu values differ, by up to %.3g (relative %.3g)", static_cast<unsigned long long>(stats.mismatches),
                static_cast<unsigned long long>(stats.elements), stats.max_abs, stats.max_rel);
  return text;
}

std::string joined(const std::string& first, const std::string& second) { return first.empty() ? second : second.empty() ? first : first + "; " + second; }

bool ties_possible(const Signature& signature) {
  bool possible = false;
  Signature copy = signature;
  visit_tensors(copy, [&](TensorSpec& spec) { possible = possible || !is_floating(spec.dtype) || is_half(spec.dtype); });
  return possible;
}

class TorchEngine final : public Engine {
public:
  explicit TorchEngine(c10::Device device) : m_device(device), m_simulation(simulation(device)) {}

  SessionFacts facts() const override { return {built_for(), running_version(), m_simulation.value, m_simulation.reason}; }
  Finding draft(const Case& subject) const override;
  Finding run(const Case& subject, const Stage& stage) override;

private:
  [[nodiscard]] Target target() const { return {m_device, Precision::recorded}; }
  void run_compared(const Case& subject, const Prepared& prepared, Finding& finding, const Stage& stage);
  void compare_with_reference(const Case& subject, const Prepared& prepared, const Run& device, Finding& finding, What what);
  void run_repeat(const Case& subject, const Prepared& prepared, Finding& finding, const Stage& stage);
  void run_tensor(const Case& subject, Finding& finding, const Stage& stage);
  void explain_layout(const Case& subject, const Prepared& prepared, Finding& finding);
  void time(const Case& subject, const Prepared& prepared, Finding& finding);
  void say_trouble(const Case& subject, const Prepared& prepared, const CallResult& result, Finding& finding, What what);

  c10::Device m_device;
  Simulation m_simulation;
};

Finding TorchEngine::draft(const Case& subject) const {
  Finding finding;
  finding.id = subject.id;
  finding.operation = operator_name(subject.signature);
  finding.name = subject.name;
  std::vector<std::string> names;
  if (const auto op = find_operator(subject.signature))
    names = op->names;
  if (subject.signature.problem.empty())
    finding.reproduce = reproduce(subject, plan_inputs(subject.signature, names), m_device.is_mps() ? "mps" : "cpu");
  return finding;
}

// The device could not do it. Whether that is news depends on what the CPU says to the same inputs.
void TorchEngine::say_trouble(const Case& subject, const Prepared& prepared, const CallResult& result, Finding& finding, What what) {
  const bool replay = subject.check == Check::replay;
  finding.detail = result.message;
  switch (result.trouble) {
  case Trouble::missing_operator:
    finding.status = replay ? Status::unsupported : Status::fail;
    finding.missing_operator = true;
    return;
  case Trouble::refused_dtype:
    finding.status = replay ? Status::unsupported : Status::not_tested;
    return;
  case Trouble::out_of_memory:
    finding.status = Status::not_tested;
    return;
  case Trouble::none:
  case Trouble::other:
    break;
  }
  const Run reference = run_on(prepared, subject.signature, {host(), Precision::recorded}, what);
  if (!reference.unusable.empty() || !reference.result.ok()) {
    finding.status = Status::not_tested;
    finding.detail = "the CPU does not accept the synthetic inputs either: " + result.message;
    return;
  }
  finding.status = replay ? Status::unsupported : Status::fail;
  finding.detail = "the device refuses what the CPU computes: " + result.message;
}

void TorchEngine::compare_with_reference(const Case& subject, const Prepared& prepared, const Run& device, Finding& finding, What what) {
  const bool replay = subject.check == Check::replay;
  const Status wrong = replay ? Status::mismatch : Status::fail;
  const Comparison how = prepared.op.random || prepared.inputs.plan().ambiguous ? Comparison::shapes : comparison_of(subject.signature.op, ties_possible(subject.signature) ? Ties::possible : Ties::impossible);
  const Run same = run_on(prepared, subject.signature, {host(), Precision::recorded}, what);
  const Run wide = run_on(prepared, subject.signature, {host(), Precision::wide}, what);
  const Run& reference = wide.result.ok() && wide.unusable.empty() ? wide : same;
  finding.status = replay ? Status::native : Status::pass;
  if (!reference.result.ok() || !reference.unusable.empty()) {
    finding.status = replay ? Status::native : Status::not_tested;
    finding.detail = "the values were not compared: the CPU cannot compute a reference (" + joined(reference.unusable, reference.result.message) + ")";
    return;
  }
  const bool has_same = same.result.ok() && same.unusable.empty();
  std::string kind;
  const CallResult compared = guarded([&]() -> std::vector<at::Tensor> {
    const Verdict verdict = compare_outputs(device.result.outputs, reference.result.outputs, subject.signature.op, how);
    kind = joined(verdict.difference_in_kind, has_same ? compare_dtypes(device.result.outputs, same.result.outputs) : "");
    if (!kind.empty() || how == Comparison::shapes)
      return {};
    std::optional<Difference> cpu;
    if (has_same && wide.result.ok())
      cpu = compare_outputs(same.result.outputs, wide.result.outputs, subject.signature.op, how).difference;
    finding.error = judge(verdict.difference, cpu);
    return {};
  });
  if (!compared.ok())
    kind = "the outputs could not be compared: " + compared.message;
  if (!kind.empty()) {
    finding.status = wrong;
    finding.detail = kind;
  } else if (how == Comparison::shapes) {
    finding.detail = prepared.op.random ? "random values: only shape and dtype were compared" : "values depend on the order of writes or are not set: only shape and dtype were compared";
  } else if (finding.error->band == Band::outside) {
    finding.status = wrong;
    finding.detail = say(*finding.error);
  } else if (finding.error->band == Band::relaxed) {
    finding.status = replay ? Status::native : Status::note;
    finding.detail = "within the relaxed band only: " + say(*finding.error);
  }
}

// Says whether it is the layout that makes the result wrong.
void TorchEngine::explain_layout(const Case& subject, const Prepared& prepared, Finding& finding) {
  const Run plain = run_on(prepared, subject.signature, target(), What::outputs, Inputs::Placing::contiguous);
  Finding same = finding;
  if (plain.result.ok() && plain.unusable.empty())
    compare_with_reference(subject, prepared, plain, same, What::outputs);
  if (same.status == Status::pass)
    finding.detail = joined(finding.detail, "the same values in contiguous memory give the right result");
}

void TorchEngine::time(const Case& subject, const Prepared& prepared, Finding& finding) {
  std::vector<double> seconds;
  const CallResult timed = guarded([&]() -> std::vector<at::Tensor> {
    const auto tensors = prepared.inputs.place(m_device, Precision::recorded);
    synchronize(m_device);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < k_timed_calls && (i == 0 || std::chrono::steady_clock::now() - start < k_timing_budget); ++i) {
      auto arguments = build_arguments(prepared.op, subject.signature, tensors, target());
      if (!arguments)
        return {};
      const auto begin = std::chrono::steady_clock::now();
      const CallResult result = call(prepared.op, std::move(*arguments));
      synchronize(m_device);
      if (!result.ok())
        return {};
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return {};
  });
  if (!timed.ok() || seconds.empty())
    return;
  std::ranges::sort(seconds);
  finding.seconds_per_call = seconds[seconds.size() / 2];
}

void TorchEngine::run_compared(const Case& subject, const Prepared& prepared, Finding& finding, const Stage& stage) {
  const What what = subject.check == Check::gradient ? What::gradients : What::outputs;
  stage("device");
  std::vector<std::string> fallbacks;
  const Run device = [&] {
    const FallbackWatch watch;
    Run run = run_on(prepared, subject.signature, target(), what);
    fallbacks = watch.operators();
    return run;
  }();
  if (!device.unusable.empty()) {
    finding.status = Status::not_tested;
    finding.detail = device.unusable;
    return;
  }
  stage("reference");
  if (!device.result.ok())
    return say_trouble(subject, prepared, device.result, finding, what);
  compare_with_reference(subject, prepared, device, finding, what);
  const bool right = finding.status == Status::pass || finding.status == Status::native || finding.status == Status::note;
  if (right && what == What::outputs)
    if (const std::string changed = changed_inputs(prepared, subject.signature, device); !changed.empty()) {
      finding.status = subject.check == Check::replay ? Status::mismatch : Status::fail;
      finding.detail = changed;
    }
  stage("device");
  if (finding.status == Status::fail && subject.check == Check::layout)
    explain_layout(subject, prepared, finding);
  if (!fallbacks.empty() && (finding.status == Status::pass || finding.status == Status::native)) {
    finding.status = subject.check == Check::replay ? Status::fallback : Status::note;
    finding.detail = joined("the device hands " + join(fallbacks, ", ") + " to the CPU", finding.detail);
  }
  if (subject.check == Check::replay && finding.status != Status::not_tested) {
    stage("time");
    time(subject, prepared, finding);
  }
}

void TorchEngine::run_repeat(const Case& subject, const Prepared& prepared, Finding& finding, const Stage& stage) {
  stage("device");
  const Run first = run_on(prepared, subject.signature, target(), What::outputs);
  if (!first.unusable.empty() || !first.result.ok()) {
    finding.detail = first.unusable;
    if (first.unusable.empty())
      say_trouble(subject, prepared, first.result, finding, What::outputs);
    return;
  }
  std::optional<Prepared> other;
  if (subject.other)
    if (auto made = prepare(*subject.other))
      other = std::move(*made);
  int differing = 0;
  Difference largest;
  bool after_other = false;
  for (int i = 0; i < subject.repeats; ++i) {
    const bool interrupted = other && i == subject.repeats / 2;
    if (interrupted)
      static_cast<void>(run_on(*other, *subject.other, target(), What::outputs));
    const Run again = run_on(prepared, subject.signature, target(), What::outputs);
    if (again.result.ok() && bit_identical(first.result.outputs, again.result.outputs))
      continue;
    ++differing;
    after_other = after_other || interrupted;
    if (!again.result.ok()) {
      finding.status = Status::fail;
      finding.detail = "call " + std::to_string(i + 2) + " failed after others had worked: " + again.result.message;
      return;
    }
    largest.add(compare_outputs(again.result.outputs, first.result.outputs, subject.signature.op, Comparison::values).difference);
  }
  finding.status = Status::pass;
  if (differing == 0)
    return;
  finding.error = judge(largest, std::nullopt);
  finding.status = finding.error->band == Band::outside ? Status::fail : Status::note;
  finding.detail = std::to_string(differing) + " of " + std::to_string(subject.repeats) + " calls gave other bits than the first" + (after_other ? ", one right after a call with another shape: " : ": ") + say(*finding.error);
}

// Refusals that the device is known for: facts about every Mac, no news about this one.
bool known_refusal(const std::string& dtype) { return dtype == "float64" || dtype == "complex128"; }

void TorchEngine::run_tensor(const Case& subject, Finding& finding, const Stage& stage) {
  const InputPlan plan = plan_inputs(subject.signature, {});
  stage("device");
  bool same = false;
  const CallResult result = guarded([&]() -> std::vector<at::Tensor> {
    const Inputs inputs(plan);
    const auto there = inputs.place(m_device, Precision::recorded);
    same = bit_identical(there, inputs.place(host(), Precision::recorded));
    return there;
  });
  if (result.trouble == Trouble::refused_dtype) {
    finding.status = known_refusal(subject.name) ? Status::pass : Status::note;
    finding.detail = "refused: " + result.message;
  } else if (!result.ok()) {
    finding.status = Status::fail;
    finding.detail = result.message;
  } else if (result.outputs.front().device().type() != m_device.type()) {
    finding.status = Status::fail;
    finding.detail = "the tensor is not on the device";
  } else {
    finding.status = same ? Status::pass : Status::fail;
    finding.detail = same ? "" : "what came back is not what was sent";
  }
}

Finding TorchEngine::run(const Case& subject, const Stage& stage) {
  Finding finding = draft(subject);
  if (subject.check == Check::dtype || subject.check == Check::round_trip) {
    run_tensor(subject, finding, stage);
  } else if (auto prepared = prepare(subject.signature); !prepared) {
    finding.status = Status::not_tested;
    finding.detail = prepared.error().message();
  } else if (subject.check == Check::repeat) {
    run_repeat(subject, *prepared, finding, stage);
  } else {
    run_compared(subject, *prepared, finding, stage);
  }
  if (finding.status == Status::pass || finding.status == Status::native)
    finding.reproduce.clear();
  return finding;
}

} // namespace

Result<std::unique_ptr<Engine>> Engine::open(const std::string& device, const std::vector<std::string>& preload) {
  RM_TRY(check_version());
  RM_TRY(load_libraries(preload));
  RM_ASSIGN(const c10::Device opened, open_device(device));
  return std::unique_ptr<Engine>(std::make_unique<TorchEngine>(opened));
}

} // namespace remotemac::worker
