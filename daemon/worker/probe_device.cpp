// Does the device work at all: memory, copies, dtypes, and every operator of the table on plain contiguous inputs.
#include "daemon/worker/op_table.h"
#include "daemon/worker/probe.h"

namespace remotemac::worker {
namespace {

// Ordered as a person would list them; the first two are what no project does without.
constexpr std::string_view k_dtypes[] = {"float32", "int64", "float16", "bfloat16", "int32", "int16", "int8", "uint8", "bool", "complex64", "float64", "complex128"};

Case tensor_case(std::string id, Check check, Value input) {
  Case result;
  result.name = id.substr(id.rfind('.') + 1);
  result.id = std::move(id);
  result.check = check;
  result.signature.op = "aten::empty_strided";
  result.signature.args = {std::move(input)};
  return result;
}

} // namespace

std::vector<Case> device_cases(Profile profile) {
  std::vector<Case> cases;
  cases.push_back(tensor_case("device.allocate.float32", Check::dtype, tensor({64})));
  cases.push_back(tensor_case("device.round-trip.small", Check::round_trip, tensor({7, 5})));
  cases.push_back(tensor_case("device.round-trip.empty", Check::round_trip, tensor({0, 3})));
  cases.push_back(tensor_case("device.round-trip.scalar", Check::round_trip, tensor({})));
  cases.push_back(tensor_case("device.round-trip.large", Check::round_trip, tensor({profile == Profile::quick ? 65'537 : 16'777'217})));
  for (const std::string_view dtype : k_dtypes)
    cases.push_back(tensor_case("device.dtype." + std::string(dtype), Check::dtype, tensor({8}, std::string(dtype))));
  for (const Sample& sample : all_samples()) {
    Case each;
    each.name = "contiguous";
    each.id = "device." + std::string(sample.name) + ".contiguous";
    each.signature = sample.make(4);
    cases.push_back(std::move(each));
  }
  return cases;
}

} // namespace remotemac::worker
