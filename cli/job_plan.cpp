#include "cli/job_plan.h"

#include "common/text.h"

#include <algorithm>

namespace remotemac::cli {
namespace {
JobSpec common_spec(const ProjectFile& project, const HostRecord& host, const Digest& snapshot) {
  JobSpec spec;
  spec.project = project.name;
  spec.snapshot = snapshot;
  spec.environment = {project.requirements, host.python, host.packages_from};
  spec.limits = project.limits;
  spec.keep_s = project.keep_s;
  return spec;
}

JobStep harness_step(const std::string& name, const std::string& mode, const std::string& device, const std::string& fallback) {
  JobStep step;
  step.name = name;
  step.kind = StepKind::harness;
  step.mode = mode;
  step.device = device;
  step.fallback = fallback;
  return step;
}

JobStep mini_run(const ProjectFile& project, const std::string& name, const std::string& device, const std::string& fallback) {
  JobStep step = harness_step(name, "mini-run", device, fallback);
  step.argv = project.command;
  step.outputs = project.outputs;
  step.env = project.env;
  return step;
}

// In the form in which the detectors know passwords: --api-key x and API_KEY=x become api_key = "x".
std::string assignment(std::string name, const std::string& value) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name + " = \"" + value + "\"\n";
}

JobStep worker_step(const ProjectFile& project, const std::string& task, const std::string& recording) {
  JobStep step;
  step.name = task;
  step.kind = StepKind::worker;
  step.task = task;
  step.device = "mps";
  step.profile = project.profile.empty() ? "quick" : project.profile;
  step.recording = recording;
  return step;
}
} // namespace

JobSpec plan_run(const ProjectFile& project, const HostRecord& host, const Digest& snapshot, WithReplay replay) {
  JobSpec spec = common_spec(project, host, snapshot);
  spec.steps.push_back(harness_step("backend", "backend", "mps", "strict"));
  spec.steps.push_back(worker_step(project, "battery", ""));
  if (replay == WithReplay::yes)
    spec.steps.push_back(worker_step(project, "replay", k_recording_path));
  spec.steps.push_back(mini_run(project, "strict", "mps", "strict"));
  spec.steps.push_back(mini_run(project, "permissive", "mps", "permissive"));
  return spec;
}

JobSpec plan_reference(const ProjectFile& project, const HostRecord& host, const Digest& snapshot) {
  JobSpec spec = common_spec(project, host, snapshot);
  JobStep step = mini_run(project, "reference", "auto", "none");
  step.record = true;
  spec.steps.push_back(std::move(step));
  return spec;
}

std::vector<std::string> names_to_collect(const JobSpec& spec) {
  std::vector<std::string> out{"record.json"};
  for (const JobStep& step : spec.steps) {
    out.push_back("evidence/" + step.name + ".json");
    for (const RelPath& output : step.outputs)
      out.push_back("outputs/" + step.name + "/" + output.text());
  }
  return out;
}

std::vector<std::string> log_streams(const JobSpec& spec) {
  std::vector<std::string> out{"environment"};
  for (const JobStep& step : spec.steps) {
    out.push_back(step.name + ".stdout");
    out.push_back(step.name + ".stderr");
  }
  return out;
}

std::string outgoing_text(const JobSpec& spec) {
  std::string out = spec.project + "\n";
  for (const RelPath& path : spec.environment.requirements)
    out += path.text() + "\n";
  for (const JobStep& step : spec.steps) {
    for (std::size_t i = 0; i < step.argv.size(); ++i) {
      const std::string& argument = step.argv[i];
      out += argument + "\n";
      if (const std::size_t equals = argument.find('='); equals != std::string::npos)
        out += assignment(argument.substr(0, equals), argument.substr(equals + 1));
      else if (argument.starts_with('-') && i + 1 < step.argv.size())
        out += assignment(argument, step.argv[i + 1]);
    }
    for (const auto& [name, value] : step.env)
      out += name + "=" + value + "\n" + assignment(name, value);
    for (const RelPath& output : step.outputs)
      out += output.text() + "\n";
  }
  return out;
}

} // namespace remotemac::cli
