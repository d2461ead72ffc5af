#pragma once
// An operation signature: which operator was called with which kinds of arguments. Types, shapes and strides, never values.
// Plain values, as in docs/evidence.md ("Operation signature"); knows nothing of libtorch. What was read from a recording has been
// checked: ranks, sizes and counts are bounded, and a signature that cannot be replayed says why in `problem`.
#include "common/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::worker {

// Elements of one signature's tensors together. Above it: not tested, with the memory that it would need.
inline constexpr std::uint64_t k_max_elements = std::uint64_t{1} << 26;

// What a device argument says once the recorded device has been replaced by the one under test.
inline constexpr std::string_view k_target_device = "target";

struct TensorSpec {
  std::string dtype = "float32";
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;
  std::int64_t offset = 0;
  std::string layout = "strided";
  bool requires_grad = false;
  std::string device = "cpu";
  bool stays_on_host = false; // a CPU tensor among tensors of the recorded device, for example a length
};

struct Value {
  enum class Kind { none, tensor, integer, real, boolean, text, dtype, device, layout, memory_format, complex, list, opaque };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  double imaginary = 0;
  bool flag = false;
  std::string text; // string, dtype, device, layout, memory format, name of an opaque type
  TensorSpec tensor;
  std::vector<Value> items;
};

struct Signature {
  std::string op; // "aten::add"
  std::string overload;
  std::uint64_t calls = 1;
  std::vector<Value> args;
  std::map<std::string, Value> kwargs;
  std::string problem; // why it cannot be replayed; "" when it can
};

// Short constructors for the tables of the battery.
[[nodiscard]] Value none();
[[nodiscard]] Value tensor(std::vector<std::int64_t> shape, std::string dtype = "float32");
[[nodiscard]] Value integer(std::int64_t value);
[[nodiscard]] Value real(double value);
[[nodiscard]] Value boolean(bool value);
[[nodiscard]] Value text(std::string value);
[[nodiscard]] Value list(std::vector<Value> items);
[[nodiscard]] Value integers(std::vector<std::int64_t> values);

[[nodiscard]] std::vector<std::int64_t> contiguous_stride(const std::vector<std::int64_t>& shape);
// Elements of the memory that the view reaches into, from the start of its storage. nullopt when that overflows or is negative.
[[nodiscard]] std::optional<std::uint64_t> storage_elements(const TensorSpec& spec);
[[nodiscard]] std::uint64_t element_count(const TensorSpec& spec);
[[nodiscard]] bool is_floating(std::string_view dtype); // complex dtypes included
[[nodiscard]] bool is_half(std::string_view dtype);
[[nodiscard]] bool is_known_dtype(std::string_view dtype);

// Calls `visit` with every tensor of the signature, in the order in which they are made: arguments, then keyword arguments.
template <typename Visitor> void visit_tensors(Value& value, Visitor&& visit) {
  if (value.kind == Value::Kind::tensor)
    visit(value.tensor);
  for (Value& item : value.items)
    visit_tensors(item, visit);
}
template <typename Visitor> void visit_tensors(Signature& signature, Visitor&& visit) {
  for (Value& value : signature.args)
    visit_tensors(value, visit);
  for (auto& [name, value] : signature.kwargs)
    visit_tensors(value, visit);
}

// "aten::add.Tensor"; without the point where the overload is empty.
[[nodiscard]] std::string operator_name(const Signature& signature);
// "float32[3, 4] (stride 1, 3), 1" for messages, cut to a line.
[[nodiscard]] std::string describe(const Signature& signature);

} // namespace remotemac::worker
