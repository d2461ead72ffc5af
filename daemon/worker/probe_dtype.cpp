// Half precision against float64. The CPU in the same dtype says how much of an error belongs to the dtype.
#include "daemon/worker/op_table.h"
#include "daemon/worker/probe.h"

namespace remotemac::worker {

std::vector<Case> dtype_cases(Profile profile) {
  std::vector<Case> cases;
  for (const Sample& sample : all_samples()) {
    if (profile == Profile::quick && sample.repeated == Repeated::no)
      continue;
    for (const std::string_view dtype : {"float16", "bfloat16"}) {
      Case each;
      each.name = std::string(dtype);
      each.id = "dtype." + std::string(sample.name) + "." + each.name;
      each.signature = sample.make(4);
      visit_tensors(each.signature, [&](TensorSpec& spec) {
        if (spec.dtype == "float32")
          spec.dtype = dtype;
      });
      cases.push_back(std::move(each));
    }
  }
  return cases;
}

} // namespace remotemac::worker
