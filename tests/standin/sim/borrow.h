#pragma once
// Lends device tensors to CPU kernels for the time of one call, without copying: the CPU tensor lies over the same memory. What the
// kernel returns is given back as a device tensor: the argument itself, a view of it, or new memory that is taken over.
// One object per call, used by one thread.
#include <ATen/core/Tensor.h>
#include <vector>

namespace remotemac::sim {

enum class Access { read, write };

class Borrow {
public:
  // CPU and undefined tensors come back as they are.
  [[nodiscard]] at::Tensor lend(const at::Tensor& tensor, Access access = Access::read);
  // Shapes and memory that the kernel changed in written arguments (resize_, out= of another size) reach the device tensors.
  void write_back();
  // Throws the genuine TypeError if the device has no such dtype.
  [[nodiscard]] at::Tensor give_back(const at::Tensor& result);

private:
  struct Loan {
    at::Tensor device;
    at::Tensor cpu;
    Access access;
  };
  struct Taken {
    const c10::StorageImpl* cpu;
    c10::Storage device;
  };
  [[nodiscard]] c10::Storage lent_storage(const c10::Storage& storage);
  [[nodiscard]] c10::Storage device_storage(const c10::Storage& cpu);
  std::vector<Loan> m_loans;
  std::vector<Taken> m_taken;
};

} // namespace remotemac::sim
