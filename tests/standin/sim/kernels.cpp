// The operators of the simulated device. Every operator that has a CPU kernel gets a boxed device kernel of its own, as the real
// backend registers each of its kernels; what has none, or is told to be missing, meets the catch-all, with the genuine texts.
#include "tests/standin/sim/borrow.h"
#include "tests/standin/sim/device.h"
#include "tests/standin/sim/device_memory.h"
#include "tests/standin/sim/effects.h"
#include "tests/standin/sim/faults.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_attention_math_for_mps.h>
#include <algorithm>
#include <caffe2/core/common.h>
#include <cstdlib>
#include <string>
#include <torch/library.h>

namespace remotemac::sim {
namespace {

using Stack = torch::jit::Stack;
constexpr c10::DispatchKeySet k_cpu(c10::DispatchKey::CPU);

enum class SameDevice { checked, not_checked };

// What a kernel needs to know about its operator, worked out once.
struct Plan {
  std::string name;     // "aten::add", for messages and faults
  std::string wrapper;  // as the generated code calls itself in messages
  SameDevice same_device = SameDevice::checked;
  c10::OperatorHandle target;  // the operator whose CPU kernel does the work
  std::ptrdiff_t insert_at = -1; // an empty argument that the target takes and this operator does not
};

// Operators that take CPU tensors beside device tensors, as the real ones do: copies, and indexing with CPU indices.
bool takes_any_device(std::string_view name) {
  static constexpr std::string_view k_names[] = {"aten::copy_",        "aten::_copy_from",           "aten::_copy_from_and_resize", "aten::_foreach_copy_",
                                                 "aten::index",        "aten::index_put_",           "aten::index_put",             "aten::_index_put_impl_",
                                                 "aten::_index_put_impl", "aten::_unsafe_index",     "aten::_unsafe_index_put",     "aten::set_",
                                                 "aten::_fused_adam_", "aten::_fused_adamw_",        "aten::_fused_sgd_",           "aten::is_set_to"};
  return std::ranges::find(k_names, name) != std::end(k_names);
}

// These have no CPU kernel of their own name; another operator computes the same (copy_: one kernel for all devices, none for this one).
struct Redirect {
  std::string_view from;
  std::string_view to;
  std::string_view fault_name;
  std::ptrdiff_t insert_at;
};
constexpr Redirect k_redirects[] = {
    {"copy_", "aten::copy_", "aten::copy_", -1},
    {"convolution_overrideable", "aten::convolution", "aten::convolution", -1},
    {"convolution_backward_overrideable", "aten::convolution_backward", "aten::convolution_backward", 3},
    {"_scaled_dot_product_attention_math_for_mps", "aten::_scaled_dot_product_attention_math", "aten::_scaled_dot_product_attention_math_for_mps", -1},
};

void check_device(const Plan& plan, std::optional<c10::Device>& common, const at::Tensor& tensor, const std::string& argument) {
  if (tensor.defined() && (tensor.dim() > 0 || !tensor.is_cpu()))
    c10::impl::check_and_update_common_device(common, tensor, plan.wrapper.c_str(), argument.c_str());
}

Access access_of(const c10::Argument& argument) { return argument.alias_info() != nullptr && argument.alias_info()->isWrite() ? Access::write : Access::read; }

void lend_argument(const Plan& plan, Borrow& borrow, std::optional<c10::Device>& common, const c10::Argument& argument, c10::IValue& value) {
  const bool check = plan.same_device == SameDevice::checked;
  if (value.isTensor()) {
    if (check)
      check_device(plan, common, value.toTensor(), argument.name());
    value = borrow.lend(value.toTensor(), access_of(argument));
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> lent;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (check)
        check_device(plan, common, tensor, argument.name());
      lent.push_back(borrow.lend(tensor, access_of(argument)));
    }
    value = std::move(lent);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> lent;
    for (const std::optional<at::Tensor> tensor : value.toOptionalTensorList())
      lent.push_back(tensor && tensor->defined() ? std::optional<at::Tensor>(borrow.lend(*tensor)) : std::nullopt);
    value = std::move(lent);
  } else if (value.isDevice() && value.toDevice().type() == c10::DeviceType::MPS) {
    value = c10::Device(c10::DeviceType::CPU);
  }
}

// Random operators: the host generator behind the device generator.
void lend_generator(const c10::Argument& argument, c10::IValue& value) {
  const auto* optional = argument.type()->castRaw<c10::OptionalType>();
  const bool generator = argument.type()->kind() == c10::TypeKind::GeneratorType ||
                         (optional != nullptr && optional->getElementType()->kind() == c10::TypeKind::GeneratorType);
  if (generator)
    value = host_generator(value.isNone() ? std::nullopt : std::optional<at::Generator>(value.toGenerator()));
}

c10::IValue give_back(Borrow& borrow, const c10::IValue& value) {
  if (value.isTensor())
    return borrow.give_back(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> given;
    for (const at::Tensor& tensor : value.toTensorVector())
      given.push_back(borrow.give_back(tensor));
    return given;
  }
  return value;
}

void run_on_host(const Plan& plan, const c10::OperatorHandle& op, Stack* stack, Effects* effects) {
  const c10::FunctionSchema& schema = op.schema();
  const std::size_t arguments = schema.arguments().size();
  const std::size_t base = stack->size() - arguments;
  Borrow borrow;
  std::optional<c10::Device> common;
  bool random = false;
  for (std::size_t i = 0; i < arguments; ++i) {
    c10::IValue& value = (*stack)[base + i];
    lend_argument(plan, borrow, common, schema.arguments()[i], value);
    lend_generator(schema.arguments()[i], value);
    random = random || value.isGenerator();
  }
  std::vector<c10::IValue> inputs;
  if (effects != nullptr) {
    effects->before();
    inputs.assign(stack->begin() + static_cast<std::ptrdiff_t>(base), stack->end());
  }
  if (plan.insert_at >= 0)
    stack->insert(stack->begin() + static_cast<std::ptrdiff_t>(base) + plan.insert_at, c10::IValue());
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    plan.target.redispatchBoxed(k_cpu, stack);
  }
  const std::size_t results = stack->size() - base;
  if (effects != nullptr)
    effects->after(schema, inputs, *stack, base);
  borrow.write_back();
  for (std::size_t i = 0; i < results; ++i)
    (*stack)[base + i] = give_back(borrow, (*stack)[base + i]);
}

Plan plan_of(const c10::OperatorHandle& op) {
  const c10::OperatorName& name = op.operator_name();
  Plan plan{name.name, {}, SameDevice::checked, op, -1};
  std::string suffix = name.overload_name.empty() ? "" : "_" + name.overload_name;
  plan.wrapper = "wrapper_MPS" + suffix + "_" + name.name.substr(name.name.find("::") + 2);
  if (takes_any_device(name.name))
    plan.same_device = SameDevice::not_checked;
  return plan;
}

class DeviceKernel final : public c10::OperatorKernel {
public:
  DeviceKernel(Plan plan, std::string_view overload)
      : m_plan(std::move(plan)), m_faults(Faults::loaded().of_operator(m_plan.name, overload)),
        m_effects(m_plan.name, m_faults), m_has_effects(m_effects.any()) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    run_on_host(m_plan, op, stack, m_has_effects ? &m_effects : nullptr);
  }

private:
  Plan m_plan;
  std::vector<Fault> m_faults;
  Effects m_effects;
  bool m_has_effects;
};

void fall_back(const c10::OperatorHandle& op, Stack* stack) {
  TORCH_WARN_ONCE("The operator '", op.schema().operator_name(), "' is not currently supported ",
                  "on the MPS backend and will fall back to run on the CPU. This may have performance implications.");
  run_on_host(plan_of(op), op, stack, nullptr);
}

void refuse(const c10::OperatorHandle& op, Stack*) {
  const auto& options = caffe2::GetBuildOptions();
  const auto commit = options.find("COMMIT_SHA");
  TORCH_CHECK_NOT_IMPLEMENTED(false, "The operator '", op.schema().operator_name(),
                              "' is not currently implemented for the MPS device. If you want this op to be considered for addition please "
                              "comment on https://github.com/pytorch/pytorch/issues/141287 and mention use-case, that resulted in missing op "
                              "as well as commit hash ",
                              commit == options.end() ? std::string("unknown") : commit->second,
                              ". As a temporary fix, you can set the environment variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a "
                              "fallback for this op. WARNING: this will be slower than running natively on MPS.");
}

at::Tensor empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const auto type = c10::dtype_or_default(dtype);
  check_dtype(type);
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &device_allocator(), c10::DispatchKeySet(c10::DispatchKey::MPS), type, format);
}

at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  const auto type = c10::dtype_or_default(dtype);
  check_dtype(type);
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), &device_allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::MPS), type);
}

at::Tensor& set_storage_view(at::Tensor& self, at::Storage source, c10::SymInt offset, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  std::vector<std::int64_t> strides;
  if (stride.empty() && !size.empty()) {
    strides.assign(size.size(), 1);
    for (std::size_t i = size.size() - 1; i > 0; --i)
      strides[i - 1] = strides[i] * std::max<std::int64_t>(size[i].expect_int(), 1);
  } else {
    const auto given = C10_AS_INTARRAYREF_SLOW(stride);
    strides.assign(given.begin(), given.end());
  }
  impl->set_sizes_and_strides(C10_AS_INTARRAYREF_SLOW(size), strides, offset.expect_int());
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source) {
  const auto elements = static_cast<std::int64_t>(source.nbytes()) / self.element_size();
  const c10::SymInt size[] = {elements};
  return set_storage_view(self, std::move(source), 0, size, {});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  if (!self.is_same(source))
    set_storage_view(self, source.storage(), source.storage_offset(), source.sym_sizes(), source.sym_strides());
  return self;
}

at::Tensor& set_nothing(at::Tensor& self) {
  c10::Storage none(c10::Storage::use_byte_size_t(), 0, device_allocator().allocate(0), &device_allocator(), true);
  const c10::SymInt size[] = {0};
  return set_storage_view(self, std::move(none), 0, size, {});
}

// The composite version asks a table of kernels that a build for Linux does not have for this device. As on the real one: the fused
// operator where no gradient is wanted, else the mathematical form.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const std::optional<at::Tensor>& mask, double dropout,
                     bool causal, std::optional<double> scale, bool grouped) {
  const bool gradient = at::GradMode::is_enabled() && (query.requires_grad() || key.requires_grad() || value.requires_grad() || (mask && mask->requires_grad()));
  if (!gradient && dropout == 0)
    return std::get<0>(at::_scaled_dot_product_attention_math_for_mps(query, key, value, mask, dropout, causal, std::nullopt, scale, grouped));
  return std::get<0>(at::_scaled_dot_product_attention_math(query, key, value, mask, dropout, causal, std::nullopt, scale, grouped));
}

constexpr std::string_view k_by_hand[] = {"aten::empty.memory_format", "aten::empty_strided", "aten::set_",
                                          "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset", "aten::set_.source_Tensor"};

std::string full_name(const c10::OperatorName& name) { return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name; }

bool told(const c10::OperatorName& name, FaultKind kind) {
  return std::ranges::any_of(Faults::loaded().all(), [&](const Fault& fault) { return fault.kind == kind && matches(fault, name.name, name.overload_name); });
}

// Registers one operator under its own name; `plan` says who computes it.
void add_kernel(torch::Library& library, const c10::OperatorName& name, Plan plan) {
  if (told(name, FaultKind::missing_op))
    return;
  const std::string local = full_name(name).substr(name.name.find("::") + 2);
  if (told(name, FaultKind::hard_fallback)) {
    library.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&fall_back>());
    return;
  }
  library.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<DeviceKernel>(std::move(plan), name.overload_name)));
}

// A fault that names nothing would make its test pass for the wrong reason.
void check_faults_bite(const std::vector<c10::OperatorName>& registered) {
  for (const Fault& fault : Faults::loaded().all()) {
    if (fault.kind == FaultKind::refuse_dtype || fault.kind == FaultKind::memory_limit)
      continue;
    const bool bites = std::ranges::any_of(registered, [&](const c10::OperatorName& name) { return matches(fault, name.name, name.overload_name); });
    if (!bites)
      refuse_to_load("'" + fault.line + "' names no operator with a kernel of its own (an operator made of others has none; name one of those)");
  }
}

void add_all_kernels(torch::Library& library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorName> registered;
  for (const Redirect& redirect : k_redirects) {
    const auto from = dispatcher.findSchema({"aten::" + std::string(redirect.from), ""});
    const auto to = dispatcher.findSchema({std::string(redirect.to), ""});
    if (!from || !to)
      continue;
    Plan plan = plan_of(*from);
    plan.name = std::string(redirect.fault_name);
    plan.target = *to;
    plan.insert_at = redirect.insert_at;
    registered.push_back({plan.name, ""});
    add_kernel(library, from->operator_name(), std::move(plan));
  }
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with("aten::") || std::ranges::find(k_by_hand, full_name(name)) != std::end(k_by_hand))
      continue;
    const auto op = dispatcher.findSchema(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU) || op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd))
      continue;
    registered.push_back(name);
    add_kernel(library, name, plan_of(*op));
  }
  check_faults_bite(registered);
}

bool fallback_allowed() {
  const char* value = std::getenv("PYTORCH_ENABLE_MPS_FALLBACK");
  return value != nullptr && std::stoi(value) != 0;
}

} // namespace
} // namespace remotemac::sim

TORCH_LIBRARY_IMPL(_, MPS, library) {
  using namespace remotemac::sim;
  if (fallback_allowed())
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
  else
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse>());
}

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  using namespace remotemac::sim;
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("scaled_dot_product_attention", &attention);
  library.impl("set_", &set_nothing);
  library.impl("set_.source_Storage", &set_storage);
  library.impl("set_.source_Storage_storage_offset", &set_storage_view);
  library.impl("set_.source_Tensor", &set_tensor);
  add_all_kernels(library);
}

TORCH_LIBRARY_IMPL(aten, AutogradMPS, library) { library.impl("scaled_dot_product_attention", &remotemac::sim::attention); }

// By this operator everything that judges a device knows a simulated one.
TORCH_LIBRARY(remotemac_simulated, library) {
  library.def("marker() -> str", []() -> std::string { return "simulated MPS device over host memory"; });
}
