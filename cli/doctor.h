#pragma once
// Checks of `remotemac doctor`: each is a small function; the list is explicit. Nothing is changed anywhere.
#include "cli/command.h"
#include "cli/hosts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::cli {

enum class CheckStatus { good, warning, bad, skipped };

struct CheckResult {
  std::string name;
  CheckStatus status = CheckStatus::good;
  std::string detail;
  std::string hint;
};

[[nodiscard]] std::vector<CheckResult> check_machine(Context& context);
// Which systems programs are here for (a real Mac is always named), and for each host whether they are here and current there.
[[nodiscard]] std::vector<CheckResult> check_payloads(const std::filesystem::path& executable, const std::vector<HostRecord>& hosts);
[[nodiscard]] std::vector<CheckResult> check_project(Context& context, const std::string& folder);
[[nodiscard]] std::vector<CheckResult> check_host(Context& context, const HostRecord& host);

} // namespace remotemac::cli
