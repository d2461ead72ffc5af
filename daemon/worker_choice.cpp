#include "daemon/worker_choice.h"

#include "common/json.h"
#include "common/text.h"
#include "daemon/step_environment.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}
} // namespace

std::string_view library_path_variable() {
#if defined(__APPLE__)
  return "DYLD_LIBRARY_PATH";
#else
  return "LD_LIBRARY_PATH";
#endif
}

std::string torch_series(std::string_view version) {
  const std::vector<std::string> parts = split(version, '.');
  if (parts.size() < 2 || !all_digits(parts[0]) || !all_digits(parts[1]))
    return {};
  return parts[0] + "." + parts[1];
}

std::vector<std::filesystem::path> worker_candidates(FileSystem& disk, const std::filesystem::path& program_folder, const std::vector<std::string>& named) {
  std::vector<std::filesystem::path> out;
  if (const auto entries = disk.list(program_folder)) {
    for (const DirEntry& entry : *entries) {
      if (entry.name.starts_with("remotemac-worker") && entry.kind == EntryKind::file)
        out.push_back(program_folder / entry.name);
    }
  }
  for (const std::string& each : named)
    out.emplace_back(each);
  return out;
}

std::optional<std::string> worker_torch(ProcessRunner& runner, const std::filesystem::path& worker, const std::filesystem::path& torch_lib) {
  ProcessSpec spec;
  spec.argv = {worker.string(), "version"};
  spec.deadline = std::chrono::seconds(60);
  spec.environment = current_environment();
  if (!torch_lib.empty())
    (*spec.environment)[std::string(library_path_variable())] = torch_lib.string();
  const Result<ProcessResult> answer = runner.run(spec);
  if (!answer || answer->exit_code != 0)
    return std::nullopt;
  const Result<nlohmann::json> value = parse_json(answer->out, "the answer of the worker");
  std::string version = value ? json_text(*value, "torch") : std::string();
  if (torch_series(version).empty())
    return std::nullopt;
  return clean_line(version, 64);
}

std::optional<std::filesystem::path> choose_worker(ProcessRunner& runner, const std::vector<std::filesystem::path>& candidates, std::string_view torch, const std::filesystem::path& torch_lib) {
  const std::string wanted = torch_series(torch);
  if (wanted.empty())
    return std::nullopt;
  for (const std::filesystem::path& each : candidates) {
    const auto built_for = worker_torch(runner, each, torch_lib);
    if (built_for && torch_series(*built_for) == wanted)
      return each;
  }
  return std::nullopt;
}

} // namespace remotemac::daemon
