#pragma once
// Faults that the simulated MPS device is told to have: one per line of a text file, read once when the library is loaded.
// The file is named by REMOTEMAC_SIM_FAULTS_FILE, else it is faults.txt beside the library; no file means no faults.
// Operators are written aten::name (all overloads and the in-place form) or aten::name.overload (exactly that one).
// Not for production code: it exists so that tests can prove that the checks find each class of fault.
// Immutable after loading, so safe from all threads.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::sim {

// kind, spelling in the file, what follows the spelling
#define RM_SIM_FAULTS(X)                                                                                               \
  X(missing_op, "missing-op", op)              /* no kernel: the genuine error, or the fallback when it is allowed */    \
  X(hard_fallback, "hard-fallback", op)        /* runs on the CPU even in a strict process, with the warning */          \
  X(refuse_dtype, "refuse-dtype", dtype)       /* no tensor of this dtype on the device */                              \
  X(wrong_layout, "wrong-layout", op)          /* wrong values when an input is not contiguous */                       \
  X(wrong_value, "wrong-value", op)            /* wrong values always */                                                \
  X(wrong_gradient, "wrong-gradient", op)      /* right forward, wrong values in the backward pass */                   \
  X(wrong_repeat, "wrong-repeat", op)          /* the second and later calls give other values than the first */        \
  X(crash, "crash", op)                        /* ends the process with SIGABRT */                                      \
  X(hang, "hang", op)                          /* never returns */                                                      \
  X(slow, "slow", op_and_number)               /* takes so many milliseconds longer */                                  \
  X(memory_limit, "memory-limit", number)      /* allocations beyond so many bytes fail with the genuine error */

enum class FaultKind {
#define RM_X(id, name, operand) id,
  RM_SIM_FAULTS(RM_X)
#undef RM_X
};

struct Fault {
  FaultKind kind = FaultKind::missing_op;
  std::string name;     // operator without overload, or dtype
  std::string overload; // "" with exact == false: all of them
  bool exact = false;
  std::int64_t number = 0;
  std::string line; // as written, for messages
};

class Faults {
public:
  // Loads the file on the first call. A line that cannot be understood ends the process with status 70 and a message: a test
  // whose fault was silently ignored would pass for the wrong reason.
  static const Faults& loaded();

  [[nodiscard]] const std::vector<Fault>& all() const { return m_faults; }
  // The faults of one operator, for example ("aten::add", "Tensor"). Gradient faults are not in it, see gradient().
  [[nodiscard]] std::vector<Fault> of_operator(std::string_view name, std::string_view overload) const;
  // True when the values that `name` computes inside the autograd node `node` ("MulBackward0") are to be wrong.
  [[nodiscard]] bool gradient(std::string_view name, std::string_view node) const;
  [[nodiscard]] bool any_gradient() const { return m_any_gradient; }
  [[nodiscard]] bool refuses_dtype(std::string_view dtype) const;
  [[nodiscard]] std::int64_t memory_limit() const { return m_memory_limit; } // 0: none

private:
  std::vector<Fault> m_faults;
  bool m_any_gradient = false;
  std::int64_t m_memory_limit = 0;
};

[[nodiscard]] bool matches(const Fault& fault, std::string_view name, std::string_view overload);
// Prints the reason and ends the process with status 70.
[[noreturn]] void refuse_to_load(const std::string& reason);

} // namespace remotemac::sim
