// The simulated device as libtorch sees it: hooks, guard, generator, and the answer to "which accelerator is there?".
#include "tests/standin/sim/device.h"

#include "tests/standin/sim/device_memory.h"
#include "tests/standin/sim/faults.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/DeviceCapability.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace remotemac::sim {
namespace {

c10::Device mps_device() { return {c10::DeviceType::MPS, 0}; }
// Other numbers than the CPU for the same seed, as on the real device.
constexpr std::uint64_t k_stream_salt = 0x6d70732d73696d75ULL;

class DeviceGenerator final : public c10::GeneratorImpl {
public:
  explicit DeviceGenerator(std::uint64_t seed)
      : c10::GeneratorImpl(mps_device(), c10::DispatchKeySet(c10::DispatchKey::MPS)), m_seed(seed), m_inner(at::detail::createCPUGenerator(seed ^ k_stream_salt)) {}

  [[nodiscard]] const at::Generator& inner() const { return m_inner; }

  void set_current_seed(std::uint64_t seed) override {
    m_seed = seed;
    m_inner.set_current_seed(seed ^ k_stream_salt);
  }
  void set_offset(std::uint64_t offset) override { m_inner.set_offset(offset); }
  std::uint64_t get_offset() const override { return m_inner.get_offset(); }
  std::uint64_t current_seed() const override { return m_seed; }
  std::uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom(true));
    return m_seed;
  }
  void set_state(const c10::TensorImpl& state) override { m_inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return m_inner.unsafeGetGeneratorImpl()->get_state(); }

private:
  DeviceGenerator* clone_impl() const override {
    auto* copy = new DeviceGenerator(m_seed);
    copy->set_state(*get_state());
    return copy;
  }
  std::uint64_t m_seed;
  at::Generator m_inner;
};

// Events exist only to be timed: everything on this device has already happened.
class Events {
public:
  std::uint32_t acquire() {
    const std::lock_guard lock(m_mutex);
    m_times[++m_last] = {};
    return m_last;
  }
  void release(std::uint32_t id) {
    const std::lock_guard lock(m_mutex);
    m_times.erase(id);
  }
  void record(std::uint32_t id) {
    const std::lock_guard lock(m_mutex);
    m_times[id] = std::chrono::steady_clock::now();
  }
  double elapsed_ms(std::uint32_t from, std::uint32_t to) {
    const std::lock_guard lock(m_mutex);
    return std::chrono::duration<double, std::milli>(m_times[to] - m_times[from]).count();
  }

private:
  std::mutex m_mutex;
  std::uint32_t m_last = 0;
  std::map<std::uint32_t, std::chrono::steady_clock::time_point> m_times;
};

Events& events() {
  static auto* instance = new Events;
  return *instance;
}

// Host memory that counts as pinned.
class PinnedAllocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0)
      return {nullptr, c10::Device(c10::DeviceType::CPU)};
    void* data = c10::alloc_cpu(bytes);
    const std::lock_guard lock(m_mutex);
    m_blocks.emplace(static_cast<char*>(data), static_cast<char*>(data) + bytes);
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
  [[nodiscard]] bool owns(const void* pointer) const {
    const std::lock_guard lock(m_mutex);
    auto after = m_blocks.upper_bound(static_cast<const char*>(pointer));
    return after != m_blocks.begin() && pointer < std::prev(after)->second;
  }
  static PinnedAllocator& instance() {
    static auto* allocator = new PinnedAllocator;
    return *allocator;
  }

private:
  static void release(void* data) {
    {
      const std::lock_guard lock(instance().m_mutex);
      instance().m_blocks.erase(static_cast<const char*>(data));
    }
    c10::free_cpu(data);
  }
  mutable std::mutex m_mutex;
  std::map<const char*, const char*> m_blocks;
};

class DeviceGuard final : public c10::impl::DeviceGuardImplInterface {
public:
  c10::DeviceType type() const override { return c10::DeviceType::MPS; }
  c10::Device exchangeDevice(c10::Device) const override { return mps_device(); }
  c10::Device getDevice() const override { return mps_device(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const override { return stream(); }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

private:
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, mps_device()); }
};

} // namespace

at::Generator host_generator(const std::optional<at::Generator>& generator) {
  const at::Generator& used = generator && generator->defined() ? *generator : at::detail::getMPSHooks().getDefaultGenerator();
  TORCH_CHECK(used.device().type() == c10::DeviceType::MPS, "Expected a 'mps' device type for generator but found '", used.device().type(), "'");
  return static_cast<DeviceGenerator*>(used.unsafeGetGeneratorImpl())->inner();
}

} // namespace remotemac::sim

// The registry macro wants exactly this name in this namespace.
namespace at {
namespace sim = remotemac::sim;

struct MPSHooks final : MPSHooksInterface {
  MPSHooks() = default;
  explicit MPSHooks(MPSHooksArgs) {}

  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasMPS() const override { return true; }
  // A Mac with macOS 15.5.
  bool isOnMacOSorNewer(unsigned major, unsigned minor) const override { return major < 15 || (major == 15 && minor <= 5); }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
  DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  Device getDeviceFromPtr(void*) const override { return sim::mps_device(); }

  const Generator& getDefaultGenerator(DeviceIndex) const override {
    static const Generator generator = make_generator<sim::DeviceGenerator>(default_rng_seed_val);
    return generator;
  }
  Generator getNewGenerator(DeviceIndex) const override { return make_generator<sim::DeviceGenerator>(default_rng_seed_val); }

  Allocator* getMPSDeviceAllocator() const override { return &sim::device_allocator(); }
  bool isPinnedPtr(const void* data) const override { return sim::PinnedAllocator::instance().owns(data); }
  Allocator* getPinnedMemoryAllocator() const override { return &sim::PinnedAllocator::instance(); }
  void emptyCache() const override { sim::empty_cache(); }
  size_t getCurrentAllocatedMemory() const override { return sim::allocated_bytes(); }
  size_t getDriverAllocatedMemory() const override { return sim::driver_bytes(); }
  size_t getRecommendedMaxMemory() const override { return sim::recommended_bytes(); }
  size_t getMaxBufferLength() const override { return sim::recommended_bytes() / 2; }
  void setMemoryFraction(double fraction) const override { sim::set_memory_fraction(fraction); }

  void deviceSynchronize() const override {}
  void commitStream() const override {}
  void profilerStartTrace(const std::string&, bool) const override {}
  void profilerStopTrace() const override {}
  uint32_t acquireEvent(bool) const override { return sim::events().acquire(); }
  void releaseEvent(uint32_t id) const override { sim::events().release(id); }
  void recordEvent(uint32_t id) const override { sim::events().record(id); }
  void waitForEvent(uint32_t) const override {}
  void synchronizeEvent(uint32_t) const override {}
  bool queryEvent(uint32_t) const override { return true; }
  double elapsedTimeOfEvents(uint32_t from, uint32_t to) const override { return sim::events().elapsed_ms(from, to); }
};
REGISTER_MPS_HOOKS(MPSHooks)

C10_REGISTER_GUARD_IMPL(MPS, sim::DeviceGuard)

} // namespace at

namespace remotemac::sim {
namespace {

// The Linux wheel from PyPI is a CUDA build, and such a build answers "CUDA" to the question for the accelerator even without a
// driver; autograd would then ask CUDA for streams, and torch would refuse two accelerators. A Mac has a build without CUDA, whose
// hooks are the interface's own defaults. The hooks object that libtorch has already cached gets the method table of those.
bool take_the_place_of_cuda() {
  const auto& hooks = at::detail::getCUDAHooks();
  if (hooks.isBuilt()) {
    static const at::CUDAHooksInterface absent;
    auto* present = const_cast<at::CUDAHooksInterface*>(&hooks);
    std::memcpy(static_cast<void*>(present), static_cast<const void*>(&absent), sizeof(void*));
  }
  c10::SetAllocator(c10::DeviceType::MPS, &device_allocator());
  if (!at::detail::getMPSHooks().hasMPS())
    refuse_to_load("something asked for the MPS hooks before this library was loaded; load it right after torch");
  if (at::accelerator::getAccelerator(false) != c10::DeviceType::MPS)
    refuse_to_load("this build of torch does not accept MPS as its accelerator");
  return true;
}
const bool k_taken = take_the_place_of_cuda();

} // namespace
} // namespace remotemac::sim
