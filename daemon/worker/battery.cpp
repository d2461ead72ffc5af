#include "daemon/worker/battery.h"

#include "daemon/worker/engine.h"

namespace remotemac::worker {

std::vector<std::string> child_arguments(const Options& options, const std::string& group) {
  std::vector<std::string> arguments = {"group", group, "--device", options.device, "--profile", options.profile_name};
  for (const std::string& library : options.preload)
    arguments.insert(arguments.end(), {"--preload", library});
  return arguments;
}

// What would hide a missing operator or change what is computed.
std::map<std::string, std::string> strict_environment() {
  return {{"PYTORCH_ENABLE_MPS_FALLBACK", ""}, {"PYTORCH_MPS_FAST_MATH", ""}, {"PYTORCH_MPS_PREFER_METAL", ""}, {"PYTORCH_MPS_HIGH_WATERMARK_RATIO", ""}, {"PYTORCH_MPS_LOW_WATERMARK_RATIO", ""}};
}

SessionFacts facts_of(const std::vector<GroupReport>& groups) {
  for (const GroupReport& group : groups)
    if (group.session)
      return *group.session;
  SessionFacts facts;
  facts.built_for = built_for();
  facts.running = running_version();
  return facts;
}

std::filesystem::path beside(const std::filesystem::path& out, const std::string& name) {
  std::error_code ignored;
  return std::filesystem::absolute(out, ignored).string() + "." + name + ".journal";
}

Document run_battery(const Options& options) {
  Document document;
  document.kind = "battery";
  document.device = options.device;
  document.profile = options.profile_name;
  for (const Probe& probe : all_probes()) {
    GroupPlan plan;
    plan.name = std::string(probe.name);
    for (const Case& each : probe.cases(options.profile)) {
      Finding draft;
      draft.id = each.id;
      draft.operation = operator_name(each.signature);
      draft.name = each.name;
      plan.drafts.push_back(std::move(draft));
    }
    plan.arguments = child_arguments(options, plan.name);
    plan.environment = strict_environment();
    plan.journal = beside(options.out, plan.name);
    document.groups.push_back(run_group(plan, options.limits));
    std::error_code ignored;
    std::filesystem::remove(plan.journal, ignored);
  }
  document.facts = facts_of(document.groups);
  return document;
}

} // namespace remotemac::worker
