#include "daemon/worker/torch_prepared.h"

#include "daemon/worker/comparison.h"
#include "daemon/worker/torch_compare.h"
#include "daemon/worker/torch_runtime.h"

namespace remotemac::worker {
namespace {

constexpr std::uint64_t k_max_unchanged_check = std::uint64_t{1} << 22; // elements; larger inputs are not looked at again

} // namespace

const c10::Device& host() {
  static const c10::Device device(c10::DeviceType::CPU);
  return device;
}

Result<Prepared> prepare(const Signature& signature) {
  if (!signature.problem.empty())
    return Error(ErrorCode::project, signature.problem);
  RM_ASSIGN(Operator op, find_operator(signature));
  if (std::string why = too_large(signature, op.names); !why.empty())
    return Error(ErrorCode::project, std::move(why));
  const InputPlan plan = plan_inputs(signature, op.names);
  std::optional<Inputs> inputs;
  const CallResult drawn = guarded([&]() -> std::vector<at::Tensor> {
    inputs.emplace(plan);
    return {};
  });
  if (!drawn.ok())
    return Error(ErrorCode::project, "no synthetic inputs could be made: " + drawn.message);
  return Prepared{std::move(op), std::move(*inputs)};
}

Run run_on(const Prepared& prepared, const Signature& signature, const Target& target, What what, Inputs::Placing placing) {
  Run run;
  run.result = guarded([&] {
    run.tensors = prepared.inputs.place(target.device, target.precision, placing);
    return std::vector<at::Tensor>();
  });
  if (!run.result.ok())
    return run;
  auto arguments = build_arguments(prepared.op, signature, run.tensors, target);
  if (!arguments) {
    run.unusable = arguments.error().message();
    return run;
  }
  run.result = what == What::gradients ? call_gradient(prepared.op, std::move(*arguments), run.tensors)
                                       : call(prepared.op, std::move(*arguments));
  if (!run.result.ok())
    return run;
  run.result = guarded([&, outputs = run.result.outputs] {
    synchronize(target.device);
    return snapshot(outputs);
  });
  return run;
}

std::string changed_inputs(const Prepared& prepared, const Signature& signature, const Run& run) {
  std::string changed;
  const CallResult looked = guarded([&]() -> std::vector<at::Tensor> {
    std::uint64_t elements = 0;
    for (const TensorPlan& plan : prepared.inputs.plan().tensors)
      elements += element_count(plan.spec);
    if (elements > k_max_unchanged_check)
      return {};
    const auto original = prepared.inputs.place(host(), Precision::recorded);
    std::size_t position = 0;
    const auto& declared = prepared.op.handle.schema().arguments();
    const auto look = [&](const Value& value, const c10::Argument& argument, const auto& self) -> void {
      if (value.kind == Value::Kind::tensor) {
        const bool written = (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) || may_change(argument.name());
        if (!written && changed.empty() && !bit_identical({run.tensors[position]}, {original[position]}))
          changed = "the call changed its input '" + argument.name() + "'";
        ++position;
      }
      for (const Value& item : value.items)
        self(item, argument, self);
    };
    for (std::size_t i = 0; i < signature.args.size(); ++i)
      look(signature.args[i], declared[i], look);
    for (const auto& [name, value] : signature.kwargs)
      for (const c10::Argument& argument : declared)
        if (argument.name() == name)
          look(value, argument, look);
    return {};
  });
  return looked.ok() ? changed : std::string();
}

} // namespace remotemac::worker
