#pragma once
// The environment variables of a step: built from a list of what is allowed, never copied. Pure.
#include "common/job.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace remotemac::daemon {

struct StepEnvironment {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> removed; // what was set to steer torch, Metal or CUDA, or may not be set by a project
  std::map<std::string, std::string> before;  // the conditions of a run as they were before the cleaning; for the harness
};

struct StepPlaces {
  std::filesystem::path home;
  std::filesystem::path temp;
  std::filesystem::path environment; // the virtual environment
  std::string job;
};

[[nodiscard]] StepEnvironment step_environment(const std::map<std::string, std::string>& ours, const JobStep& step, const StepPlaces& places);
// Our own environment as a map.
[[nodiscard]] std::map<std::string, std::string> current_environment();
// True for names that may reach a step neither from the host nor from the project.
[[nodiscard]] bool is_steering_variable(std::string_view name);

} // namespace remotemac::daemon
