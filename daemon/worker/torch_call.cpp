#include "daemon/worker/torch_call.h"

#include "common/text.h"
#include "daemon/worker/comparison.h"

#include <ATen/core/enum_tag.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/Context.h>
#include <ATen/ScalarOps.h>
#include <algorithm>
#include <c10/util/Exception.h>
#include <functional>
#include <new>
#include <torch/csrc/autograd/autograd.h>

namespace remotemac::worker {
namespace {

using c10::IValue;
using c10::TypeKind;

// Names of random operators without the tag that says so; everything else random carries it or takes a generator.
constexpr std::string_view k_random[] = {"aten::rand", "aten::randn", "aten::randint", "aten::randperm", "aten::native_dropout", "aten::dropout", "aten::feature_dropout", "aten::alpha_dropout"};

Error unusable(std::string why) { return Error(ErrorCode::project, std::move(why)); }

// Makes one argument of the type that the schema wants.
class Converter {
public:
  Converter(const std::vector<at::Tensor>& tensors, const Target& target, const std::vector<c10::ScalarType>& narrow) : m_tensors(tensors), m_target(target), m_narrow(narrow) {}

  [[nodiscard]] Result<IValue> convert(const Value& value, const c10::Type& type);

private:
  [[nodiscard]] Result<IValue> convert_list(const Value& value, const c10::Type& element);
  template <typename T, typename Read> [[nodiscard]] Result<IValue> numbers(const Value& value, const c10::Type& element, Read read);
  [[nodiscard]] Result<IValue> dtype(const std::string& name) const;

  const std::vector<at::Tensor>& m_tensors;
  const Target& m_target;
  const std::vector<c10::ScalarType>& m_narrow; // floating dtypes of the tensors, which the reference widens
  std::size_t m_next = 0;
};

Result<IValue> Converter::dtype(const std::string& name) const {
  const auto type = scalar_type(name);
  if (!type)
    return unusable("dtype " + name + " is not replayed");
  const bool widen = m_target.precision == Precision::wide && std::ranges::find(m_narrow, *type) != m_narrow.end();
  return IValue(static_cast<std::int64_t>(widen ? widened(*type) : *type));
}

// A number where the schema wants a tensor (x + 1), as PyTorch's own argument parser makes it: no dimensions, on the CPU, and marked, so
// that it does not widen the dtype of the result.
std::optional<IValue> wrapped_number(const Value& value) {
  std::optional<c10::Scalar> number;
  if (value.kind == Value::Kind::integer)
    number = value.integer;
  else if (value.kind == Value::Kind::real)
    number = value.real;
  else if (value.kind == Value::Kind::boolean)
    number = value.flag;
  else if (value.kind == Value::Kind::complex)
    number = c10::complex<double>(value.real, value.imaginary);
  if (!number)
    return std::nullopt;
  at::Tensor tensor = c10::scalar_to_tensor(*number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return IValue(std::move(tensor));
}

Result<IValue> layout_or_format(const std::string& name) {
  if (name == "strided")
    return IValue(static_cast<std::int64_t>(c10::Layout::Strided));
  if (name == "contiguous_format")
    return IValue(static_cast<std::int64_t>(c10::MemoryFormat::Contiguous));
  if (name == "preserve_format")
    return IValue(static_cast<std::int64_t>(c10::MemoryFormat::Preserve));
  if (name == "channels_last")
    return IValue(static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast));
  if (name == "channels_last_3d")
    return IValue(static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast3d));
  return unusable("layout or memory format " + name + " is not replayed");
}

template <typename T, typename Read> Result<IValue> Converter::numbers(const Value& value, const c10::Type& element, Read read) {
  c10::List<T> list;
  for (const Value& item : value.items) {
    RM_ASSIGN(const IValue each, convert(item, element));
    list.push_back(read(each));
  }
  return IValue(std::move(list));
}

Result<IValue> Converter::convert_list(const Value& value, const c10::Type& element) {
  switch (element.kind()) {
  case TypeKind::TensorType:
    return numbers<at::Tensor>(value, element, [](const IValue& each) { return each.isTensor() ? each.toTensor() : at::Tensor(); });
  case TypeKind::OptionalType:
    return numbers<std::optional<at::Tensor>>(value, element, [](const IValue& each) { return each.isTensor() ? std::optional(each.toTensor()) : std::nullopt; });
  case TypeKind::IntType:
  case TypeKind::SymIntType:
    return numbers<std::int64_t>(value, element, [](const IValue& each) { return each.toInt(); });
  case TypeKind::FloatType:
    return numbers<double>(value, element, [](const IValue& each) { return each.toDouble(); });
  case TypeKind::BoolType:
    return numbers<bool>(value, element, [](const IValue& each) { return each.toBool(); });
  case TypeKind::NumberType: {
    c10::impl::GenericList list(c10::NumberType::get());
    for (const Value& item : value.items) {
      RM_ASSIGN(const IValue each, convert(item, element));
      list.push_back(each);
    }
    return IValue(std::move(list));
  }
  default:
    return unusable("lists of " + element.str() + " are not replayed");
  }
}

Result<IValue> Converter::convert(const Value& value, const c10::Type& type) {
  using Kind = Value::Kind;
  if (type.kind() == TypeKind::OptionalType) {
    const auto& inner = *type.castRaw<c10::OptionalType>()->getElementType();
    // A generator is an object without a name: the default one takes its place.
    if (value.kind == Kind::none || (value.kind == Kind::opaque && inner.kind() == TypeKind::GeneratorType))
      return IValue();
    return convert(value, inner);
  }
  if (type.kind() == TypeKind::ListType) {
    const auto& element = *type.castRaw<c10::ListType>()->getElementType();
    return convert_list(value.kind == Kind::list ? value : list({value}), element);
  }
  if (type.kind() == TypeKind::TensorType) {
    if (std::optional<IValue> number = wrapped_number(value))
      return *std::move(number);
  }
  switch (value.kind) {
  case Kind::none:
    return IValue();
  case Kind::tensor:
    return IValue(m_tensors.at(m_next++));
  case Kind::integer:
    return type.kind() == TypeKind::FloatType ? IValue(static_cast<double>(value.integer)) : type.kind() == TypeKind::BoolType ? IValue(value.integer != 0) : IValue(value.integer);
  case Kind::real:
    return IValue(value.real);
  case Kind::boolean:
    // No schema takes True for a number, though Python does: it counts as 1.
    return type.kind() == TypeKind::IntType || type.kind() == TypeKind::NumberType ? IValue(std::int64_t{value.flag}) : type.kind() == TypeKind::FloatType ? IValue(value.flag ? 1.0 : 0.0) : IValue(value.flag);
  case Kind::text:
    return IValue(value.text);
  case Kind::dtype:
    return dtype(value.text);
  case Kind::device:
    return IValue(value.text == k_target_device ? m_target.device : c10::Device(c10::DeviceType::CPU));
  case Kind::layout:
  case Kind::memory_format:
    return layout_or_format(value.text);
  case Kind::complex:
    return IValue(c10::complex<double>(value.real, value.imaginary));
  case Kind::list:
  case Kind::opaque:
    break;
  }
  return unusable("an argument of type " + value.text + " is not replayed");
}

at::Tensor as_tensor(const IValue& value) {
  if (value.isBool())
    return at::scalar_tensor(value.toBool() ? 1 : 0, at::kDouble);
  return at::scalar_tensor(value.toScalar(), value.isComplexDouble() ? at::kComplexDouble : at::kDouble);
}

void collect(const IValue& value, std::vector<at::Tensor>& outputs) {
  if (value.isTensor()) {
    outputs.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& each : value.toTensorVector())
      outputs.push_back(each);
  } else if (value.isScalar() || value.isBool()) {
    outputs.push_back(as_tensor(value));
  }
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

CallResult failed(Trouble trouble, const std::string& message) {
  CallResult result;
  result.trouble = trouble;
  result.message = clean_line(std::string_view(message).substr(0, message.find('\n')), 600);
  return result;
}

CallResult failed(const c10::Error& error, bool is_type, bool is_missing) {
  const std::string text = error.what_without_backtrace();
  if (is_missing && (has(text, "implemented for the MPS device") || has(text, "Could not run '")))
    return failed(Trouble::missing_operator, text);
  if (has(text, "out of memory") || has(text, "can't allocate memory"))
    return failed(Trouble::out_of_memory, text);
  if (is_type && (has(text, "MPS framework doesn't support") || has(text, "to the MPS backend but it does not have support")))
    return failed(Trouble::refused_dtype, text);
  return failed(Trouble::other, text);
}

std::vector<at::Tensor> run(const Operator& op, std::vector<IValue> arguments) {
  torch::jit::Stack stack = arguments;
  op.handle.callBoxed(stack);
  std::vector<at::Tensor> outputs;
  for (const IValue& value : stack)
    collect(value, outputs);
  const auto& declared = op.handle.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (declared[i].alias_info() == nullptr || !declared[i].alias_info()->isWrite())
      continue;
    std::vector<at::Tensor> written;
    collect(arguments[i], written);
    for (at::Tensor& each : written)
      if (std::ranges::none_of(outputs, [&](const at::Tensor& known) { return known.is_same(each); }))
        outputs.push_back(std::move(each));
  }
  return outputs;
}

} // namespace

Result<Operator> find_operator(const Signature& signature) {
  if (!signature.op.starts_with("aten::"))
    return unusable("operators of other libraries are not replayed");
  try {
    const auto handle = c10::Dispatcher::singleton().findSchema({signature.op, signature.overload});
    if (!handle)
      return unusable("this version of torch has no operator " + operator_name(signature));
    Operator result{*handle, {}, false};
    for (const c10::Argument& argument : handle->schema().arguments())
      result.names.push_back(argument.name());
    const bool named = std::ranges::find(k_random, signature.op) != std::end(k_random);
    result.random = (named || handle->hasTag(at::Tag::nondeterministic_seeded)) && !without_chance(signature, result.names);
    return result;
  } catch (const std::exception& error) {
    return unusable("asking for " + operator_name(signature) + " failed: " + clean_line(error.what(), 200));
  }
}

Result<std::vector<IValue>> build_arguments(const Operator& op, const Signature& signature, const std::vector<at::Tensor>& tensors, const Target& target) {
  std::vector<c10::ScalarType> narrow;
  Signature copy = signature;
  visit_tensors(copy, [&](TensorSpec& spec) {
    if (is_floating(spec.dtype))
      narrow.push_back(scalar_type(spec.dtype).value_or(at::kFloat));
  });
  try {
    const auto& declared = op.handle.schema().arguments();
    Converter converter(tensors, target, narrow);
    std::vector<IValue> arguments;
    if (signature.args.size() > declared.size())
      return unusable("it has more arguments than " + operator_name(signature) + " takes");
    for (std::size_t i = 0; i < signature.args.size(); ++i) {
      RM_ASSIGN(IValue value, converter.convert(signature.args[i], *declared[i].type()));
      arguments.push_back(std::move(value));
    }
    std::unordered_map<std::string, IValue> named;
    for (const auto& [name, value] : signature.kwargs) {
      const auto argument = std::ranges::find(declared, name, [](const c10::Argument& each) { return each.name(); });
      if (argument == declared.end())
        return unusable(operator_name(signature) + " has no argument '" + name + "'");
      RM_ASSIGN(IValue converted, converter.convert(value, *argument->type()));
      named.emplace(name, std::move(converted));
    }
    op.handle.schema().checkAndNormalizeInputs(arguments, named);
    return arguments;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return unusable("the arguments do not fit: " + clean_line(std::string_view(text).substr(0, text.find('\n')), 300));
  }
}

CallResult guarded(const std::function<std::vector<at::Tensor>()>& work) {
  try {
    CallResult result;
    result.outputs = work();
    return result;
  } catch (const c10::NotImplementedError& error) {
    return failed(error, false, true);
  } catch (const c10::TypeError& error) {
    return failed(error, true, false);
  } catch (const c10::Error& error) {
    return failed(error, false, false);
  } catch (const std::bad_alloc&) {
    return failed(Trouble::out_of_memory, "not enough memory");
  } catch (const std::exception& error) {
    return failed(Trouble::other, error.what());
  }
}

CallResult call(const Operator& op, std::vector<IValue> arguments) {
  return guarded([&] {
    const at::AutoGradMode off(false);
    return run(op, std::move(arguments));
  });
}

CallResult call_gradient(const Operator& op, std::vector<IValue> arguments, const std::vector<at::Tensor>& tensors) {
  return guarded([&]() -> std::vector<at::Tensor> {
    const at::AutoGradMode on(true);
    std::vector<at::Tensor> outputs;
    for (at::Tensor& each : run(op, std::move(arguments)))
      if (each.defined() && each.requires_grad())
        outputs.push_back(std::move(each));
    TORCH_CHECK(!outputs.empty(), "no output has a gradient");
    at::manual_seed(1);
    std::vector<at::Tensor> upstream;
    for (const at::Tensor& each : outputs) {
      const bool wide = each.scalar_type() == at::kDouble;
      const at::Tensor drawn = at::randn(each.sizes(), at::TensorOptions().dtype(at::kDouble));
      upstream.push_back(drawn.to(wide ? at::kFloat : each.scalar_type()).to(each.scalar_type()).to(each.device()));
    }
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& each : tensors)
      if (each.requires_grad())
        leaves.push_back(each);
    return torch::autograd::grad(outputs, leaves, upstream, std::nullopt, false, true);
  });
}

} // namespace remotemac::worker
