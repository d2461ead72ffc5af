#include "daemon/worker/signature.h"

#include "common/text.h"

#include <algorithm>
#include <limits>

namespace remotemac::worker {
namespace {

struct DtypeRow {
  std::string_view name;
  bool floating;
  bool half;
};

constexpr DtypeRow k_dtypes[] = {
    {"float32", true, false},  {"float64", true, false},    {"float16", true, true},      {"bfloat16", true, true}, {"complex64", true, false},
    {"complex128", true, false}, {"complex32", true, true}, {"int8", false, false},       {"int16", false, false},  {"int32", false, false},
    {"int64", false, false},   {"uint8", false, false},     {"bool", false, false},
};

const DtypeRow* row_of(std::string_view dtype) {
  const auto* row = std::ranges::find(k_dtypes, dtype, &DtypeRow::name);
  return row == std::end(k_dtypes) ? nullptr : row;
}

std::string numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> words;
  for (const std::int64_t value : values)
    words.push_back(std::to_string(value));
  return join(words, ", ");
}

std::string describe_tensor(const TensorSpec& spec) {
  std::string line = spec.dtype + "[" + numbers(spec.shape) + "]";
  if (spec.stride != contiguous_stride(spec.shape))
    line += " (stride " + numbers(spec.stride) + ")";
  if (spec.offset != 0)
    line += " (offset " + std::to_string(spec.offset) + ")";
  return line;
}

std::string describe_value(const Value& value) {
  switch (value.kind) {
  case Value::Kind::none:
    return "None";
  case Value::Kind::tensor:
    return describe_tensor(value.tensor);
  case Value::Kind::integer:
    return std::to_string(value.integer);
  case Value::Kind::real:
    return std::to_string(value.real);
  case Value::Kind::boolean:
    return value.flag ? "True" : "False";
  case Value::Kind::complex:
    return std::to_string(value.real) + "+" + std::to_string(value.imaginary) + "j";
  case Value::Kind::list: {
    std::vector<std::string> words;
    for (const Value& item : value.items)
      words.push_back(describe_value(item));
    return "[" + join(words, ", ") + "]";
  }
  case Value::Kind::text:
  case Value::Kind::dtype:
  case Value::Kind::device:
  case Value::Kind::layout:
  case Value::Kind::memory_format:
  case Value::Kind::opaque:
    return value.text;
  }
  return {};
}

Value of_kind(Value::Kind kind) {
  Value value;
  value.kind = kind;
  return value;
}

} // namespace

Value none() { return {}; }

Value tensor(std::vector<std::int64_t> shape, std::string dtype) {
  Value value = of_kind(Value::Kind::tensor);
  value.tensor.dtype = std::move(dtype);
  value.tensor.stride = contiguous_stride(shape);
  value.tensor.shape = std::move(shape);
  return value;
}

Value integer(std::int64_t number) {
  Value value = of_kind(Value::Kind::integer);
  value.integer = number;
  return value;
}

Value real(double number) {
  Value value = of_kind(Value::Kind::real);
  value.real = number;
  return value;
}

Value boolean(bool flag) {
  Value value = of_kind(Value::Kind::boolean);
  value.flag = flag;
  return value;
}

Value text(std::string content) {
  Value value = of_kind(Value::Kind::text);
  value.text = std::move(content);
  return value;
}

Value list(std::vector<Value> items) {
  Value value = of_kind(Value::Kind::list);
  value.items = std::move(items);
  return value;
}

Value integers(std::vector<std::int64_t> values) {
  Value result = of_kind(Value::Kind::list);
  for (const std::int64_t value : values)
    result.items.push_back(integer(value));
  return result;
}

std::vector<std::int64_t> contiguous_stride(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    stride[i] = step;
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[i], 1), &step))
      step = std::numeric_limits<std::int64_t>::max();
  }
  return stride;
}

std::optional<std::uint64_t> storage_elements(const TensorSpec& spec) {
  if (spec.stride.size() != spec.shape.size() || spec.offset < 0)
    return std::nullopt;
  std::int64_t last = spec.offset;
  bool empty = false;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    std::int64_t reach = 0;
    if (spec.shape[i] < 0 || spec.stride[i] < 0)
      return std::nullopt;
    empty = empty || spec.shape[i] == 0;
    if (spec.shape[i] > 0 && (__builtin_mul_overflow(spec.shape[i] - 1, spec.stride[i], &reach) || __builtin_add_overflow(last, reach, &last)))
      return std::nullopt;
  }
  if (empty)
    return static_cast<std::uint64_t>(spec.offset);
  return static_cast<std::uint64_t>(last) + 1;
}

std::uint64_t element_count(const TensorSpec& spec) {
  std::uint64_t count = 1;
  for (const std::int64_t size : spec.shape)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0)), &count))
      return std::numeric_limits<std::uint64_t>::max();
  return count;
}

bool is_floating(std::string_view dtype) {
  const DtypeRow* row = row_of(dtype);
  return row != nullptr && row->floating;
}

bool is_half(std::string_view dtype) {
  const DtypeRow* row = row_of(dtype);
  return row != nullptr && row->half;
}

bool is_known_dtype(std::string_view dtype) { return row_of(dtype) != nullptr; }

std::string operator_name(const Signature& signature) { return signature.overload.empty() ? signature.op : signature.op + "." + signature.overload; }

std::string describe(const Signature& signature) {
  std::vector<std::string> words;
  for (const Value& value : signature.args)
    words.push_back(describe_value(value));
  for (const auto& [name, value] : signature.kwargs)
    words.push_back(name + "=" + describe_value(value));
  return clean_line(join(words, ", "), 400);
}

} // namespace remotemac::worker
