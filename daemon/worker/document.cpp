#include "daemon/worker/document.h"

#include "common/file_system.h"
#include "common/json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace remotemac::worker {
namespace {

using nlohmann::json;

json group_json(const GroupReport& group) {
  return {{"name", group.name},
          {"status", group_status_name(group.status)},
          {"signal", group.signal},
          {"exit_code", group.exit_code},
          {"seconds", group.seconds},
          {"last_case", group.last_case},
          {"stderr_tail", group.stderr_tail}};
}

json finding_json(const std::string& group, const Finding& finding) {
  return {{"id", finding.id},         {"group", group},
          {"operator", finding.operation}, {"case", finding.name},
          {"status", status_name(finding.status)}, {"detail", finding.detail},
          {"reproduce", finding.reproduce}, {"error", error_json(finding.error)}};
}

json replay_json(const ReplayEntry& entry) {
  return {{"index", entry.index},
          {"operator", entry.operation},
          {"calls", entry.calls},
          {"status", status_name(entry.finding.status)},
          {"detail", entry.finding.detail},
          {"reproduce", entry.finding.reproduce},
          {"seconds_per_call", entry.finding.seconds_per_call ? json(*entry.finding.seconds_per_call) : json(nullptr)},
          {"error", error_json(entry.finding.error)}};
}

} // namespace

std::string to_text(const Document& document) {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  const bool battery = document.kind == "battery";
  json groups = json::array();
  json findings = json::array();
  json replay = json::array();
  for (const GroupReport& group : document.groups) {
    groups.push_back(group_json(group));
    if (!battery)
      continue;
    for (const Finding& finding : group.findings) {
      findings.push_back(finding_json(group.name, finding));
      ++counts[std::string(status_name(finding.status))];
    }
  }
  for (const ReplayEntry& entry : document.replay) {
    replay.push_back(replay_json(entry));
    ++counts[std::string(status_name(entry.finding.status))];
  }
  json whole = {{"format", "remotemac-worker"},
                {"version", 1},
                {"kind", document.kind},
                {"torch", {{"built_for", document.facts.built_for}, {"running", document.facts.running}}},
                {"device", document.device},
                {"simulated", {{"value", document.facts.simulated}, {"reason", document.facts.simulated_reason}}},
                {"groups", std::move(groups)},
                {"counts", counts}};
  if (battery) {
    whole["profile"] = document.profile;
    whole["findings"] = std::move(findings);
  } else {
    whole["replay"] = std::move(replay);
  }
  return dump_json(whole) + "\n";
}

Result<void> write_document(const Document& document, const std::filesystem::path& file) {
  PosixFileSystem disk;
  std::error_code ignored;
  return disk.write_atomic(std::filesystem::absolute(file, ignored), to_text(document), 0600);
}

bool shows_trouble(const Document& document) {
  for (const GroupReport& group : document.groups) {
    if (group.status != GroupStatus::ok)
      return true;
    if (document.kind == "battery" && std::ranges::any_of(group.findings, [](const Finding& each) { return stands_for_trouble(each.status); }))
      return true;
  }
  return std::ranges::any_of(document.replay, [](const ReplayEntry& each) { return stands_for_trouble(each.finding.status); });
}

} // namespace remotemac::worker
