#include "cli/job_plan.h"

#include "common/text.h"
#include "policies/gate.h"

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

// One piece of what leaves beside the files, and where a person wrote it.
struct OutgoingPart {
  std::string place;
  std::string text;
  bool operator==(const OutgoingPart&) const = default;
};

std::vector<OutgoingPart> outgoing_parts(const JobSpec& spec) {
  std::vector<OutgoingPart> out;
  const auto add = [&](std::string place, std::string text) {
    OutgoingPart part{std::move(place), std::move(text)};
    if (std::find(out.begin(), out.end(), part) == out.end()) // the steps of a run repeat command and environment
      out.push_back(std::move(part));
  };
  add("[project] name", spec.project + "\n");
  for (const RelPath& path : spec.environment.requirements)
    add("[run] requirements", path.text() + "\n");
  for (const JobStep& step : spec.steps) {
    for (std::size_t i = 0; i < step.argv.size(); ++i) {
      const std::string& argument = step.argv[i];
      std::string text = argument + "\n";
      if (const std::size_t equals = argument.find('='); equals != std::string::npos)
        text += assignment(argument.substr(0, equals), argument.substr(equals + 1));
      if (i > 0 && step.argv[i - 1].starts_with('-') && step.argv[i - 1].find('=') == std::string::npos)
        text += assignment(step.argv[i - 1], argument);
      add("[run] command, item " + std::to_string(i + 1), std::move(text));
    }
    std::size_t entry = 0;
    for (const auto& [name, value] : step.env) {
      ++entry;
      // A name that is itself a finding is not repeated.
      const bool plain = policies::judge_text("name", name).allowed;
      add(plain ? "[run] env " + clean_line(name, 80) : "[run] env, entry " + std::to_string(entry), name + "=" + value + "\n" + assignment(name, value));
    }
    for (const RelPath& output : step.outputs)
      add("[run] outputs", output.text() + "\n");
  }
  return out;
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
  std::string out;
  for (const OutgoingPart& part : outgoing_parts(spec))
    out += part.text;
  return out;
}

OutgoingVerdict judge_outgoing(const JobSpec& spec) {
  const std::string all = "the command, its arguments and environment";
  const policies::TextVerdict whole = policies::judge_text(all, outgoing_text(spec)); // also what only shows when the pieces stand together
  OutgoingVerdict out{whole.allowed, "", whole.reason};
  std::vector<std::string> reasons;
  for (const OutgoingPart& part : outgoing_parts(spec)) {
    const policies::TextVerdict verdict = policies::judge_text(part.place, part.text);
    if (verdict.allowed)
      continue;
    out.allowed = false;
    reasons.push_back(verdict.reason);
    if (whole.allowed)
      out.kinds += (out.kinds.empty() ? "" : ", ") + policies::judge_text(all, part.text).reason;
  }
  out.reason = reasons.empty() ? whole.reason : join(reasons, ", ");
  return out;
}

OutgoingVerdict judge_outgoing(const ProjectFile& project) { return judge_outgoing(plan_run(project, HostRecord{}, Digest{}, WithReplay::no)); }

} // namespace remotemac::cli
