#include "daemon/worker/torch_runtime.h"

#include "common/file_system.h"
#include "common/text.h"
#include "daemon/worker/engine.h"
#include "daemon/worker/series.h"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <algorithm>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <filesystem>
#include <torch/version.h>

namespace remotemac::worker {
namespace {

// The "X" of a line like: key X<end>.
std::string after(const std::string& text, std::string_view key, std::string_view ends) {
  const auto at = text.find(key);
  if (at == std::string::npos)
    return {};
  const auto from = at + key.size();
  return text.substr(from, text.find_first_of(ends, from) - from);
}

// version.py lies in the package beside the folder of the library; it has the full version with the build's suffix.
std::string version_beside_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&at::show_config), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code failed;
  const auto library = std::filesystem::canonical(info.dli_fname, failed);
  if (failed)
    return {};
  PosixFileSystem disk;
  const auto text = disk.read_file(library.parent_path().parent_path() / "version.py", 65'536);
  return text ? after(*text, "__version__ = '", "'") : std::string();
}

} // namespace

std::string built_for() { return TORCH_VERSION; }

std::string running_version() {
  std::string version = version_beside_library();
  if (version.empty())
    version = after(at::show_config(), "TORCH_VERSION=", ", \n");
  return clean_line(version, 64);
}

Result<void> check_version() {
  const std::string running = running_version();
  if (same_series(built_for(), running))
    return ok();
  return Error(ErrorCode::setup, "this worker was built for torch " + built_for() + ", but the libtorch that it found is " + (running.empty() ? "of an unknown version" : running),
               "start the worker that was built for that series, or point the library path to the torch/lib folder of torch " + built_for());
}

Result<void> load_libraries(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      const char* why = dlerror();
      return Error(ErrorCode::setup, "cannot load " + file + ": " + clean_line(why == nullptr ? "unknown reason" : why), "check --preload and worker_preload of host.toml");
    }
  return ok();
}

Result<c10::Device> open_device(const std::string& name) {
  try {
    if (name == "cpu")
      return c10::Device(c10::DeviceType::CPU);
    if (name != "mps")
      return Error(ErrorCode::usage, "no device '" + name + "'", "use --device mps or --device cpu");
    if (at::hasMPS())
      return c10::Device(c10::DeviceType::MPS, 0);
  } catch (const std::exception& error) {
    return Error(ErrorCode::setup, std::string("asking for the MPS device failed: ") + clean_line(error.what(), 400));
  }
  return Error(ErrorCode::setup, "torch finds no MPS device here", "a Mac with Apple silicon, macOS 14 or newer and an arm64 build of torch are needed");
}

void synchronize(const c10::Device& device) {
  if (device.is_mps())
    at::detail::getMPSHooks().deviceSynchronize();
}

Simulation simulation(const c10::Device& device) {
  if (c10::Dispatcher::singleton().findSchema({"remotemac_simulated::marker", ""}))
    return {true, "the simulated MPS device of the stand-in is loaded"};
#ifndef __APPLE__
  if (device.is_mps())
    return {true, "an MPS device on a system that is not macOS"};
#else
  static_cast<void>(device);
#endif
  return {};
}

struct FallbackWatch::Handler final : c10::WarningHandler {
  void process(const c10::Warning& warning) override {
    const std::string& text = warning.msg();
    if (text.find("fall back to run on the CPU") == std::string::npos)
      return;
    std::string name = clean_line(after(text, "The operator '", "'"), 128);
    if (std::ranges::find(operators, name) == operators.end())
      operators.push_back(std::move(name));
  }
  std::vector<std::string> operators;
  c10::WarningHandler* before = nullptr;
  bool always_before = false;
};

FallbackWatch::FallbackWatch() : m_handler(std::make_unique<Handler>()) {
  m_handler->before = c10::WarningUtils::get_warning_handler();
  m_handler->always_before = c10::WarningUtils::get_warnAlways();
  c10::WarningUtils::set_warning_handler(m_handler.get());
  c10::WarningUtils::set_warnAlways(true);
}

FallbackWatch::~FallbackWatch() {
  c10::WarningUtils::set_warning_handler(m_handler->before);
  c10::WarningUtils::set_warnAlways(m_handler->always_before);
}

const std::vector<std::string>& FallbackWatch::operators() const { return m_handler->operators; }

} // namespace remotemac::worker
