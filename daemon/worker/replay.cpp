#include "daemon/worker/replay.h"

#include "common/file_system.h"
#include "common/text.h"
#include "daemon/worker/battery.h"
#include "daemon/worker/translate.h"

#include <algorithm>
#include <charconv>

namespace remotemac::worker {
namespace {

constexpr std::size_t k_batch = 256; // signatures of one child: what one leaks or holds does not burden the rest

struct Selection {
  std::string name;
  std::vector<std::size_t> indices;
};

Result<GroupReport> replay_selection(const Options& options, const Recording& recording, const Selection& selection, const std::map<std::string, std::string>& environment, const Limits& limits) {
  const std::filesystem::path list = beside(options.out, selection.name + ".select");
  std::string lines;
  for (const std::size_t index : selection.indices)
    lines += std::to_string(index) + "\n";
  PosixFileSystem disk;
  RM_TRY(disk.write_atomic(list, lines, 0600));
  GroupPlan plan;
  plan.name = selection.name;
  for (const std::size_t index : selection.indices) {
    Finding draft;
    draft.id = "replay." + std::to_string(index);
    draft.operation = operator_name(recording.signatures[index]);
    plan.drafts.push_back(std::move(draft));
  }
  std::error_code ignored;
  plan.arguments = child_arguments(options, "replay");
  plan.arguments.insert(plan.arguments.end(), {"--recording", std::filesystem::absolute(options.recording, ignored).string(), "--select", list.string()});
  plan.environment = environment;
  plan.journal = beside(options.out, selection.name);
  GroupReport report = run_group(plan, limits);
  std::filesystem::remove(plan.journal, ignored);
  std::filesystem::remove(list, ignored);
  return report;
}

// What the second, permissive call says about an operator without a kernel.
void settle(Finding& strict, Finding permissive) {
  switch (permissive.status) {
  case Status::fallback:
  case Status::native:
    permissive.status = Status::fallback;
    permissive.detail = "no kernel on the device; with PYTORCH_ENABLE_MPS_FALLBACK=1 it runs on the CPU (strict: " + strict.detail + ")";
    break;
  case Status::mismatch:
  case Status::crash:
  case Status::hang:
    permissive.detail = "no kernel on the device, and with PYTORCH_ENABLE_MPS_FALLBACK=1: " + permissive.detail;
    break;
  default:
    return;
  }
  strict = std::move(permissive);
}

Limits time_left(const Limits& limits, std::chrono::steady_clock::time_point start) {
  Limits left = limits;
  const auto used = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  left.group = std::max(limits.group - used, std::chrono::milliseconds(1));
  left.one_case = std::min(limits.one_case, std::max(limits.group / 2, std::chrono::milliseconds(1)));
  return left;
}

} // namespace

std::vector<Case> replay_cases(Recording& recording, const std::vector<std::size_t>& indices) {
  std::vector<Case> cases;
  for (const std::size_t index : indices) {
    Case each;
    each.id = "replay." + std::to_string(index);
    each.check = Check::replay;
    each.signature = recording.signatures[index];
    each.name = translate(each.signature);
    visit_tensors(each.signature, [](TensorSpec& spec) { spec.requires_grad = false; });
    cases.push_back(std::move(each));
  }
  return cases;
}

Result<std::vector<std::size_t>> read_selection(const std::filesystem::path& file, std::size_t count) {
  PosixFileSystem disk;
  RM_ASSIGN(const std::string text, disk.read_file(file, std::uint64_t{16} << 20));
  std::vector<std::size_t> indices;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty())
      continue;
    std::size_t index = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), index);
    if (failed != std::errc() || end != line.data() + line.size() || index >= count)
      return Error(ErrorCode::corrupt, "the selection holds what is no index of the recording");
    indices.push_back(index);
  }
  return indices;
}

Result<Document> run_replay(const Options& options) {
  RM_ASSIGN(const Recording recording, read_recording(options.recording));
  const auto start = std::chrono::steady_clock::now();
  Document document;
  document.kind = "replay";
  document.device = options.device;
  for (std::size_t i = 0; i < recording.signatures.size(); ++i)
    document.replay.push_back({i, operator_name(recording.signatures[i]), recording.signatures[i].calls, {}});
  const auto run = [&](const Selection& selection, const std::map<std::string, std::string>& environment) -> Result<GroupReport> {
    return replay_selection(options, recording, selection, environment, time_left(options.limits, start));
  };
  for (std::size_t from = 0; from < recording.signatures.size(); from += k_batch) {
    Selection selection{"replay-" + std::to_string(from / k_batch), {}};
    for (std::size_t i = from; i < std::min(from + k_batch, recording.signatures.size()); ++i)
      selection.indices.push_back(i);
    RM_ASSIGN(GroupReport report, run(selection, strict_environment()));
    for (std::size_t i = 0; i < selection.indices.size(); ++i)
      document.replay[selection.indices[i]].finding = std::move(report.findings[i]);
    document.groups.push_back(std::move(report));
  }
  Selection missing{"replay-permissive", {}};
  for (const ReplayEntry& entry : document.replay)
    if (entry.finding.missing_operator)
      missing.indices.push_back(entry.index);
  if (!missing.indices.empty()) {
    auto permissive = strict_environment();
    permissive["PYTORCH_ENABLE_MPS_FALLBACK"] = "1";
    RM_ASSIGN(GroupReport report, run(missing, permissive));
    for (std::size_t i = 0; i < missing.indices.size(); ++i)
      settle(document.replay[missing.indices[i]].finding, std::move(report.findings[i]));
    document.groups.push_back(std::move(report));
  }
  document.facts = facts_of(document.groups);
  return document;
}

} // namespace remotemac::worker
