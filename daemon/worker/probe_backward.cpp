// Gradients, judged apart from the forward result: right forward with wrong backward is a class of errors of its own. The upstream
// gradient is never one; some cases leave an input without a gradient, or give it another layout.
#include "daemon/worker/layouts.h"
#include "daemon/worker/op_table.h"
#include "daemon/worker/probe.h"

namespace remotemac::worker {
namespace {

// All floating tensors want gradients, but not the running statistics of batch_norm, which are written.
std::size_t want_gradients(Signature& signature) {
  std::size_t wanted = 0;
  std::size_t position = 0;
  const bool statistics = signature.op == "aten::batch_norm";
  visit_tensors(signature, [&](TensorSpec& spec) {
    const bool running = statistics && (position == 3 || position == 4);
    spec.requires_grad = is_floating(spec.dtype) && !running;
    wanted += spec.requires_grad ? 1U : 0U;
    ++position;
  });
  return wanted;
}

void add_case(std::vector<Case>& cases, const Sample& sample, std::string name, Signature signature) {
  Case each;
  each.name = std::move(name);
  each.id = "backward." + std::string(sample.name) + "." + each.name;
  each.check = Check::gradient;
  each.signature = std::move(signature);
  cases.push_back(std::move(each));
}

} // namespace

std::vector<Case> backward_cases(Profile profile) {
  std::vector<Case> cases;
  for (const Sample& sample : all_samples()) {
    if (sample.differentiable == Differentiable::no)
      continue;
    Signature plain = sample.make(4);
    const std::size_t wanted = want_gradients(plain);
    add_case(cases, sample, "contiguous", plain);
    for (const Layout layout : {Layout::channels_last, Layout::transposed})
      if (auto changed = with_layout(plain, layout, Arguments::all))
        if (profile != Profile::quick || layout == Layout::channels_last)
          add_case(cases, sample, std::string(layout_name(layout)), std::move(*changed));
    if (wanted > 1) {
      Signature without = plain;
      bool first = true;
      visit_tensors(without, [&](TensorSpec& spec) {
        if (spec.requires_grad && first) {
          spec.requires_grad = false;
          first = false;
        }
      });
      add_case(cases, sample, "first-input-without", std::move(without));
    }
    if (profile == Profile::full) {
      Signature larger = sample.make(257);
      want_gradients(larger);
      add_case(cases, sample, "contiguous-257", std::move(larger));
    }
  }
  return cases;
}

} // namespace remotemac::worker
