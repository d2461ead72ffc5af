#include "tests/standin/sim/borrow.h"

#include "tests/standin/sim/device_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>

namespace remotemac::sim {
namespace {

void end_of_loan(void* owner) { c10::raw::intrusive_ptr::decref(static_cast<c10::StorageImpl*>(owner)); }

// The device storage over whose memory this CPU storage lies; null for ordinary CPU storages.
c10::StorageImpl* owner_of(const c10::Storage& storage) {
  const c10::DataPtr& pointer = storage.data_ptr();
  return pointer.get_deleter() == &end_of_loan ? static_cast<c10::StorageImpl*>(pointer.get_context()) : nullptr;
}

at::Tensor new_tensor(c10::Storage storage, const at::Tensor& like, c10::DispatchKey key) {
  return at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
}

// A view of `base` has its keys: a view of an ordinary tensor stays one in inference mode.
at::Tensor new_view(c10::Storage storage, const at::Tensor& like, const at::Tensor& base) {
  return at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, std::move(storage), base.key_set(), like.dtype());
}

at::Tensor with_shape_of(at::Tensor result, const at::Tensor& like) {
  auto* impl = result.unsafeGetTensorImpl();
  const auto* shape = like.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(shape->sizes(), shape->strides(), shape->storage_offset());
  if (shape->is_wrapped_number())
    impl->set_wrapped_number(true);
  if (like.is_conj())
    impl->_set_conj(true);
  if (like.is_neg())
    impl->_set_neg(true);
  return result;
}

} // namespace

c10::Storage Borrow::lent_storage(const c10::Storage& storage) {
  for (const Loan& loan : m_loans)
    if (loan.device.is_mps() && loan.device.storage().unsafeGetStorageImpl() == storage.unsafeGetStorageImpl())
      return loan.cpu.storage();
  auto* owner = storage.unsafeGetStorageImpl();
  c10::raw::intrusive_ptr::incref(owner);
  c10::DataPtr pointer(storage.mutable_data(), owner, &end_of_loan, c10::Device(c10::DeviceType::CPU));
  return {c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(pointer), c10::GetCPUAllocator(), true};
}

at::Tensor Borrow::lend(const at::Tensor& tensor, Access access) {
  if (!tensor.defined())
    return tensor;
  for (Loan& loan : m_loans)
    if (loan.device.is_same(tensor)) {
      if (access == Access::write)
        loan.access = access;
      return loan.cpu;
    }
  if (!tensor.is_mps()) {
    m_loans.push_back({tensor, tensor, Access::read});
    return tensor;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided, "the simulated MPS device has no ", tensor.layout(), " tensors");
  at::Tensor cpu = with_shape_of(new_tensor(lent_storage(tensor.storage()), tensor, c10::DispatchKey::CPU), tensor);
  m_loans.push_back({tensor, cpu, access});
  return cpu;
}

c10::Storage Borrow::device_storage(const c10::Storage& cpu) {
  if (auto* owner = owner_of(cpu))
    return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(owner));
  for (const Taken& taken : m_taken)
    if (taken.cpu == cpu.unsafeGetStorageImpl())
      return taken.device;
  c10::Storage device(c10::Storage::use_byte_size_t(), cpu.nbytes(), take_over(cpu), &device_allocator(), true);
  m_taken.push_back({cpu.unsafeGetStorageImpl(), device});
  return device;
}

void Borrow::write_back() {
  for (const Loan& loan : m_loans) {
    if (loan.access != Access::write || loan.device.is_same(loan.cpu))
      continue;
    auto* device = loan.device.unsafeGetTensorImpl();
    const auto* cpu = loan.cpu.unsafeGetTensorImpl();
    auto* storage = loan.device.storage().unsafeGetStorageImpl();
    const c10::Storage& now = loan.cpu.storage();
    if (owner_of(now) != storage && now.mutable_data() != storage->mutable_data()) {
      // The kernel gave its view other memory: the device storage takes that memory over, for all its tensors.
      storage->set_data_ptr_noswap(take_over(now));
      storage->set_nbytes(now.nbytes());
    }
    if (device->sizes() != cpu->sizes() || device->strides() != cpu->strides() || device->storage_offset() != cpu->storage_offset())
      device->set_sizes_and_strides(cpu->sizes(), cpu->strides(), cpu->storage_offset());
  }
}

at::Tensor Borrow::give_back(const at::Tensor& result) {
  if (!result.defined() || !result.is_cpu())
    return result;
  for (const Loan& loan : m_loans)
    if (loan.cpu.is_same(result))
      return loan.device;
  check_dtype(result.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == c10::kStrided, "the simulated MPS device has no ", result.layout(), " tensors");
  const c10::Storage storage = device_storage(result.storage());
  for (const Loan& loan : m_loans)
    if (loan.device.is_mps() && loan.device.storage().unsafeGetStorageImpl() == storage.unsafeGetStorageImpl())
      return with_shape_of(new_view(storage, result, loan.device), result);
  return with_shape_of(new_tensor(storage, result, c10::DispatchKey::MPS), result);
}

} // namespace remotemac::sim
