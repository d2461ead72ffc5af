#include "daemon/step_environment.h"

#include "daemon/processes.h"

#include <algorithm>
#include <array>

extern char** environ;

namespace remotemac::daemon {
namespace {
// They change what is being judged: allocators, fallbacks, validation layers, visible devices.
constexpr std::array<std::string_view, 4> k_steering{"PYTORCH_", "MTL_", "METAL_", "CUDA_"};
// The shim decides these for each step.
constexpr std::array<std::string_view, 9> k_ours{"HOME", "PATH", "TMPDIR", "VIRTUAL_ENV", "PYTHONHOME", "PYTHONSTARTUP", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH"};
// Conditions that the harness document records, cleaned or not (docs/evidence.md, `environment`).
constexpr std::array<std::string_view, 7> k_conditions{"PYTORCH_", "MTL_", "METAL_", "CUDA_", "CUBLAS_", "OMP_", "MKL_"};
constexpr std::array<std::string_view, 6> k_passed{"LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME"};
constexpr std::string_view k_system_path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

template <std::size_t N> bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view each) { return name.starts_with(each); });
}

template <std::size_t N> bool is_any(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
} // namespace

bool is_steering_variable(std::string_view name) { return starts_with_any(name, k_steering); }

StepEnvironment step_environment(const std::map<std::string, std::string>& ours, const JobStep& step, const StepPlaces& places) {
  StepEnvironment out;
  for (const auto& [name, value] : ours) {
    if (starts_with_any(name, k_conditions))
      out.before[name] = value;
    if (is_steering_variable(name))
      out.removed[name] = value;
    else if (is_any(name, k_passed))
      out.variables[name] = value;
  }
  for (const auto& [name, value] : step.env) {
    if (starts_with_any(name, k_conditions))
      out.before[name] = value;
    if (is_steering_variable(name) || is_any(name, k_ours) || name.starts_with("REMOTEMAC_"))
      out.removed[name] = value;
    else
      out.variables[name] = value;
  }
  if (!out.variables.contains("LANG") && !out.variables.contains("LC_ALL"))
    out.variables["LANG"] = "C.UTF-8";
  out.variables["HOME"] = places.home.string();
  out.variables["TMPDIR"] = places.temp.string();
  out.variables["VIRTUAL_ENV"] = places.environment.string();
  out.variables["PATH"] = (places.environment / "bin").string() + ":" + std::string(k_system_path);
  out.variables["PYTHONUNBUFFERED"] = "1"; // logs come as they are printed, and a killed step loses nothing
  out.variables["PYTHONNOUSERSITE"] = "1";
  out.variables[std::string(k_job_tag)] = places.job;
  out.variables["REMOTEMAC_STEP"] = step.name;
  if (step.fallback == "strict" || step.fallback == "permissive")
    out.variables["PYTORCH_ENABLE_MPS_FALLBACK"] = step.fallback == "permissive" ? "1" : "0";
  return out;
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> out;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (const std::size_t equal = entry.find('='); equal != std::string_view::npos)
      out.emplace(entry.substr(0, equal), entry.substr(equal + 1));
  }
  return out;
}

} // namespace remotemac::daemon
