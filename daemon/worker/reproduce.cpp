#include "daemon/worker/reproduce.h"

#include "common/text.h"

#include <cmath>
#include <cstdio>

namespace remotemac::worker {
namespace {

std::string tuple(const std::vector<std::int64_t>& values) {
  std::vector<std::string> words;
  for (const std::int64_t value : values)
    words.push_back(std::to_string(value));
  return "(" + join(words, ", ") + (values.size() == 1 ? ",)" : ")");
}

// Shape of the values that are drawn: repeated elements (stride 0) are drawn once.
std::vector<std::int64_t> drawn_shape(const TensorSpec& spec) {
  std::vector<std::int64_t> shape = spec.shape;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (spec.stride[i] == 0 && shape[i] > 1)
      shape[i] = 1;
  return shape;
}

// Must draw exactly what the engine's values() draws.
std::string expression(const TensorPlan& plan) {
  const std::string shape = tuple(drawn_shape(plan.spec));
  const bool real = is_floating(plan.spec.dtype);
  const std::string f64 = ", dtype=torch." + std::string(plan.spec.dtype.starts_with("complex") ? "complex128" : "float64") + ")";
  const std::string bound = std::to_string(plan.bound);
  const std::string dim = std::to_string(plan.dim);
  switch (plan.domain) {
  case Domain::normal:
    if (!real)
      return "torch.randint(" + std::string(plan.spec.dtype == "uint8" ? "0" : "-5") + ", 6, " + shape + ")";
    return "torch.randn(" + shape + f64;
  case Domain::positive:
    return real ? "torch.rand(" + shape + f64 + " + 0.5" : "torch.randint(1, 6, " + shape + ")";
  case Domain::above_one:
    return "torch.rand(" + shape + f64 + " + 1.5";
  case Domain::unit:
    return "torch.rand(" + shape + f64 + " * 0.9 + 0.05";
  case Domain::symmetric:
    return "torch.rand(" + shape + f64 + " * 2 - 1";
  case Domain::rows:
    return "torch.randn(" + shape + f64 + ".softmax(" + dim + ")";
  case Domain::log_rows:
    return "torch.randn(" + shape + f64 + ".log_softmax(" + dim + ")";
  case Domain::constant:
    return "torch.full(" + shape + ", " + bound + ")";
  case Domain::index:
    return "torch.randint(0, " + bound + ", " + shape + ")";
  case Domain::unique_index:
    return "torch.rand(" + bound + ").argsort()[:" + std::to_string(element_count(plan.spec)) + "].reshape(" + tuple(plan.spec.shape) + ")";
  case Domain::unique_along:
    return "torch.rand(" + tuple(plan.spec.shape) + ").argsort(" + dim + ")";
  case Domain::boolean:
    return "torch.rand(" + shape + ") < 0.5";
  case Domain::positive_definite:
    return "(lambda a: a @ a.mT + " + std::to_string(plan.spec.shape.back()) + " * torch.eye(" + std::to_string(plan.spec.shape.back()) + "))(torch.randn(" + tuple(plan.spec.shape) + f64 + ")";
  case Domain::sorted:
    return real ? "torch.randn(" + shape + f64 + ".sort(-1)[0]" : "torch.randint(-5, 6, " + shape + ").sort(-1)[0]";
  }
  return {};
}

std::string number(double value) {
  if (std::isnan(value))
    return "float('nan')";
  if (std::isinf(value))
    return value > 0 ? "float('inf')" : "float('-inf')";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  const std::string text = buffer;
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : clean_line(text))
    result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + "'";
}

// The value as an expression inside run(device, wide); tensors are named in their order.
std::string argument(const Value& value, std::size_t& next) {
  switch (value.kind) {
  case Value::Kind::none:
  case Value::Kind::opaque:
    return "None";
  case Value::Kind::tensor:
    return "x" + std::to_string(next++);
  case Value::Kind::integer:
    return std::to_string(value.integer);
  case Value::Kind::real:
    return number(value.real);
  case Value::Kind::boolean:
    return value.flag ? "True" : "False";
  case Value::Kind::text:
    return quoted(value.text);
  case Value::Kind::dtype:
    return "torch." + value.text;
  case Value::Kind::device:
    return value.text == k_target_device ? "device" : quoted(value.text);
  case Value::Kind::layout:
  case Value::Kind::memory_format:
    return "torch." + value.text;
  case Value::Kind::complex:
    return "complex(" + number(value.real) + ", " + number(value.imaginary) + ")";
  case Value::Kind::list: {
    std::vector<std::string> words;
    for (const Value& item : value.items)
      words.push_back(argument(item, next));
    return "[" + join(words, ", ") + "]";
  }
  }
  return {};
}

std::string call_text(const Signature& signature) {
  std::size_t next = 0;
  std::vector<std::string> words;
  for (const Value& value : signature.args)
    words.push_back(argument(value, next));
  for (const auto& [name, value] : signature.kwargs)
    words.push_back(name + "=" + argument(value, next));
  std::string name = signature.op;
  if (const auto colons = name.find("::"); colons != std::string::npos)
    name.replace(colons, 2, ".");
  return "torch.ops." + name + "." + (signature.overload.empty() ? "default" : signature.overload) + "(" + join(words, ", ") + ")";
}

// One tensor on `device`, with its recorded strides; `wide` asks for the float64 reference.
std::string placed(const TensorPlan& plan, std::size_t position) {
  const std::string name = std::to_string(position);
  std::string line = "put(v" + name + ", " + tuple(plan.spec.shape) + ", " + tuple(plan.spec.stride) + ", " + std::to_string(plan.spec.offset) + ", " +
                     std::to_string(storage_elements(plan.spec).value_or(0)) + ", " + (plan.spec.stays_on_host ? "'cpu'" : "device") + ", wide)";
  if (plan.spec.requires_grad)
    line += ".requires_grad_()";
  return line;
}

std::string tail(const Case& subject, const std::string& device) {
  const std::string on = "run('" + device + "', False)";
  const std::string wide = "run('cpu', True)";
  switch (subject.check) {
  case Check::gradient:
    return "for got, want in zip(" + on + ", " + wide + "):\n    print((got.cpu().double() - want).abs().max())\n";
  case Check::repeat:
    return "first, again = " + on + ", [" + on + " for _ in range(" + std::to_string(subject.repeats) + ")]\nprint([all(torch.equal(a, b) for a, b in zip(first, r)) for r in again])\n";
  default:
    return "for got, want in zip(" + on + ", " + wide + "):\n    print((got.cpu().double() - want.double()).abs().max())\n";
  }
}

} // namespace

std::string reproduce(const Case& subject, const InputPlan& plan, const std::string& device) {
  if (subject.check == Check::dtype || subject.check == Check::round_trip) {
    const TensorSpec& spec = plan.tensors.front().spec;
    return "import torch\nx = torch.ones(" + tuple(spec.shape) + ", dtype=torch." + spec.dtype + ")\nprint(torch.equal(x.to('" + device + "').cpu(), x))\n";
  }
  std::string code = "import torch\ntorch.manual_seed(0)\n"
                     "def put(v, shape, stride, offset, size, device, wide):  # the same values and strides on any device\n"
                     "    d = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}.get(v.dtype, v.dtype) if wide else v.dtype\n"
                     "    b = torch.zeros(size, dtype=d); b.as_strided(v.shape, stride, offset).copy_(v)\n"
                     "    return b.to(device).as_strided(shape, stride, offset)\n";
  std::string body;
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const std::string name = std::to_string(i);
    code += "v" + name + " = (" + expression(plan.tensors[i]) + ").to(torch." + plan.tensors[i].spec.dtype + ")\n";
    body += "    x" + name + " = " + placed(plan.tensors[i], i) + "\n";
    if (plan.tensors[i].spec.requires_grad)
      leaves.push_back("x" + name);
  }
  code += "def run(device, wide):\n" + body + "    r = " + call_text(subject.signature) + "\n    r = list(r) if isinstance(r, (list, tuple)) else [r]\n";
  if (subject.check == Check::gradient)
    code += "    r = [t for t in r if t.requires_grad]; torch.manual_seed(1)\n"
            "    g = [torch.randn(t.shape, dtype=torch.float64).to(t.dtype if t.dtype != torch.float64 else torch.float32).to(t.dtype).to(device) for t in r]\n"
            "    return torch.autograd.grad(r, [" + join(leaves, ", ") + "], g)\n";
  else
    code += "    return r\n";
  return code + tail(subject, device);
}

} // namespace remotemac::worker
