#include "tests/standin/sim/device_memory.h"

#include "tests/standin/sim/faults.h"

#include <atomic>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <unistd.h>

namespace remotemac::sim {
namespace {

struct Counters {
  std::atomic<std::size_t> allocated{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::size_t> driver{0};
  std::atomic<std::size_t> limit{0};
};

Counters& counters() {
  static auto* instance = new Counters; // never destroyed: tensors may outlive static destructors
  return *instance;
}

void raise_to(std::atomic<std::size_t>& mark, std::size_t value) {
  std::size_t seen = mark.load();
  while (seen < value && !mark.compare_exchange_weak(seen, value)) {
  }
}

std::string human(std::size_t bytes) {
  std::ostringstream text;
  const double value = static_cast<double>(bytes);
  text << std::fixed << std::setprecision(2);
  if (bytes >= std::size_t{1} << 30)
    text << value / 1073741824.0 << " GiB";
  else if (bytes >= std::size_t{1} << 20)
    text << value / 1048576.0 << " MiB";
  else if (bytes >= std::size_t{1} << 10)
    text << value / 1024.0 << " KiB";
  else
    text << bytes << " bytes";
  return text.str();
}

void count_in(std::size_t bytes) {
  Counters& count = counters();
  const std::size_t limit = count.limit.load();
  const std::size_t before = count.allocated.fetch_add(bytes);
  if (limit != 0 && before + bytes > limit) {
    count.allocated.fetch_sub(bytes);
    TORCH_CHECK(false, "MPS backend out of memory (MPS allocated: ", human(before), ", other allocations: ", human(count.driver.load() - before),
                ", max allowed: ", human(limit), "). Tried to allocate ", human(bytes),
                " on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations "
                "(may cause system failure).");
  }
  raise_to(count.peak, before + bytes);
  raise_to(count.driver, before + bytes);
}

struct Block {
  void* data = nullptr;
  std::size_t bytes = 0;
  c10::Storage source; // set when the memory belongs to a CPU storage
};

void free_block(void* context) {
  auto* block = static_cast<Block*>(context);
  counters().allocated.fetch_sub(block->bytes);
  if (!block->source)
    c10::free_cpu(block->data);
  delete block;
}

c10::Device mps_device() { return {c10::DeviceType::MPS, 0}; }

class DeviceAllocator final : public c10::DeviceAllocator {
public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0)
      return {nullptr, mps_device()};
    count_in(bytes);
    void* data = c10::alloc_cpu(bytes);
    auto* block = new Block{data, bytes, {}};
    return {data, block, &free_block, mps_device()};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override { empty_cache(); }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    auto& allocated = stats.allocated_bytes[0];
    allocated.current = static_cast<std::int64_t>(allocated_bytes());
    allocated.peak = static_cast<std::int64_t>(counters().peak.load());
    auto& reserved = stats.reserved_bytes[0];
    reserved.current = static_cast<std::int64_t>(driver_bytes());
    reserved.peak = reserved.current;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override { counters().peak = allocated_bytes(); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    const std::size_t total = recommended_bytes();
    return {total - std::min(total, allocated_bytes()), total};
  }
};

} // namespace

c10::DeviceAllocator& device_allocator() {
  static auto* instance = [] {
    counters().limit = static_cast<std::size_t>(Faults::loaded().memory_limit());
    return new DeviceAllocator;
  }();
  return *instance;
}

c10::DataPtr take_over(c10::Storage cpu) {
  const std::size_t bytes = cpu.nbytes();
  if (bytes == 0)
    return {nullptr, mps_device()};
  count_in(bytes);
  void* data = cpu.mutable_data();
  auto* block = new Block{data, bytes, std::move(cpu)};
  return {data, block, &free_block, mps_device()};
}

std::size_t allocated_bytes() { return counters().allocated.load(); }
std::size_t driver_bytes() { return counters().driver.load(); }
void empty_cache() { counters().driver = allocated_bytes(); }

std::size_t recommended_bytes() {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 3 * 2;
}

void set_memory_fraction(double fraction) { counters().limit = static_cast<std::size_t>(fraction * static_cast<double>(recommended_bytes())); }

void check_dtype(c10::ScalarType dtype) {
  TORCH_CHECK_TYPE(dtype != c10::ScalarType::Double, "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
                                                     "Please use float32 instead.");
  bool refused = dtype == c10::ScalarType::ComplexDouble;
  switch (dtype) {
  case c10::ScalarType::Float8_e4m3fn:
  case c10::ScalarType::Float8_e4m3fnuz:
  case c10::ScalarType::Float8_e5m2:
  case c10::ScalarType::Float8_e5m2fnuz:
  case c10::ScalarType::Float8_e8m0fnu:
    refused = true;
    break;
  default:
    break;
  }
  static const bool any_fault = [] {
    for (const Fault& fault : Faults::loaded().all())
      if (fault.kind == FaultKind::refuse_dtype)
        return true;
    return false;
  }();
  if (any_fault && !refused) {
    const auto names = c10::getDtypeNames(dtype);
    refused = Faults::loaded().refuses_dtype(names.first) || (!names.second.empty() && Faults::loaded().refuses_dtype(names.second));
  }
  TORCH_CHECK_TYPE(!refused, "Trying to convert ", dtype, " to the MPS backend but it does not have support for that dtype.");
}

} // namespace remotemac::sim
