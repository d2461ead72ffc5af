#include "daemon/worker/torch_compare.h"

#include "daemon/worker/torch_inputs.h"

#include <ATen/ops/view_as_real.h>
#include <algorithm>
#include <cstring>
#include <sstream>

namespace remotemac::worker {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  if (tensor.defined())
    text << tensor.sizes();
  else
    text << "nothing";
  return text.str();
}

at::Tensor doubles(const at::Tensor& tensor) {
  at::Tensor cpu = tensor.detach().cpu().resolve_conj().resolve_neg();
  if (cpu.is_complex())
    cpu = at::view_as_real(cpu.to(at::kComplexDouble));
  return cpu.to(at::kDouble).contiguous();
}

std::span<const double> values(const at::Tensor& tensor) { return {tensor.const_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())}; }

at::Tensor bytes_of(const at::Tensor& tensor) { return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous(); }

} // namespace

std::string compare_shapes(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " outputs instead of " + std::to_string(expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (actual[i].defined() != expected[i].defined() || (actual[i].defined() && actual[i].sizes() != expected[i].sizes()))
      return "output " + std::to_string(i) + " is " + shape_text(actual[i]) + " instead of " + shape_text(expected[i]);
  return {};
}

std::string compare_dtypes(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected) {
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i)
    if (actual[i].defined() && expected[i].defined() && actual[i].scalar_type() != expected[i].scalar_type())
      return "output " + std::to_string(i) + " is " + dtype_name(actual[i].scalar_type()) + " instead of " + dtype_name(expected[i].scalar_type());
  return {};
}

Verdict compare_outputs(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected, const std::string& op, Comparison how) {
  Verdict verdict;
  verdict.difference_in_kind = compare_shapes(actual, expected);
  if (!verdict.difference_in_kind.empty() || how == Comparison::shapes)
    return verdict;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!actual[i].defined())
      continue;
    const bool real = actual[i].is_floating_point() || actual[i].is_complex();
    if (how == Comparison::reals && !real)
      continue;
    at::Tensor mine = doubles(actual[i]);
    at::Tensor reference = doubles(expected[i]);
    if (how == Comparison::magnitudes) {
      mine = mine.abs();
      reference = reference.abs();
    }
    if (mine.sizes() != reference.sizes()) { // one is complex, the other is not
      verdict.difference_in_kind = "output " + std::to_string(i) + " is " + dtype_name(actual[i].scalar_type()) + " instead of " + dtype_name(expected[i].scalar_type());
      return verdict;
    }
    const std::string dtype = dtype_name(actual[i].scalar_type());
    verdict.difference.add(compare(values(mine), values(reference), default_tolerance(dtype), relaxed_tolerance(op, dtype)));
  }
  return verdict;
}

bool bit_identical(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& other) {
  if (!compare_shapes(one, other).empty() || !compare_dtypes(one, other).empty())
    return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!one[i].defined())
      continue;
    const at::Tensor first = bytes_of(one[i]);
    const at::Tensor second = bytes_of(other[i]);
    if (first.nbytes() != 0 && std::memcmp(first.const_data_ptr(), second.const_data_ptr(), first.nbytes()) != 0)
      return false;
  }
  return true;
}

std::vector<at::Tensor> snapshot(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& each : tensors)
    copies.push_back(!each.defined() ? each : each.is_cpu() ? each.detach().clone() : each.detach().cpu());
  return copies;
}

} // namespace remotemac::worker
