#pragma once
// Checks of `remotemac doctor`: each is a small function; the list is explicit. Nothing is changed anywhere.
#include "cli/command.h"
#include "cli/hosts.h"

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
[[nodiscard]] std::vector<CheckResult> check_project(Context& context, const std::string& folder);
[[nodiscard]] std::vector<CheckResult> check_host(Context& context, const HostRecord& host);

} // namespace remotemac::cli
