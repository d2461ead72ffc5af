#pragma once
// What the faults of one operator do to its calls. Owned by the operator's kernel; safe from several threads.
#include "tests/standin/sim/faults.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/function_schema.h>
#include <atomic>
#include <string>
#include <vector>

namespace remotemac::sim {

class Effects {
public:
  Effects(std::string name, const std::vector<Fault>& faults);
  [[nodiscard]] bool any() const;
  // Crash, hang, slowness.
  void before();
  // Makes the values wrong where a fault says so. `inputs` are the arguments, the results lie on the stack from `base` on.
  void after(const c10::FunctionSchema& schema, const std::vector<c10::IValue>& inputs, std::vector<c10::IValue>& stack, std::size_t base);

private:
  [[nodiscard]] const Fault* find(FaultKind kind) const;
  [[nodiscard]] bool wrong_now(const std::vector<c10::IValue>& inputs);
  std::string m_name;
  std::vector<Fault> m_faults;
  std::atomic<std::uint64_t> m_calls{0};
};

} // namespace remotemac::sim
