#pragma once
// Runs the cases of one group in child processes: a crash or a hang becomes a finding of the case in hand, and the group goes on
// behind it in a new child, a bounded number of times.
#include "daemon/worker/finding.h"
#include "daemon/worker/journal.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace remotemac::worker {

struct Limits {
  std::chrono::milliseconds group{120'000}; // all children of a group together
  std::chrono::milliseconds one_case{60'000};
  int restarts = 8;
};

struct GroupPlan {
  std::string name;
  std::vector<Finding> drafts;        // one per case, in order: what is reported of a case that never ran
  std::vector<std::string> arguments; // of the child; --journal and --skip are added
  std::map<std::string, std::string> environment;
  std::filesystem::path journal;
};

enum class GroupStatus { ok, crash, hang, error, not_run };
[[nodiscard]] std::string_view group_status_name(GroupStatus status);

struct GroupReport {
  std::string name;
  GroupStatus status = GroupStatus::not_run;
  int signal = 0;
  int exit_code = 0;
  double seconds = 0;
  std::string last_case;
  std::string stderr_tail;
  std::vector<Finding> findings; // one per draft
  std::optional<SessionFacts> session;
};

// Never fails: what went wrong is in the report.
[[nodiscard]] GroupReport run_group(const GroupPlan& plan, const Limits& limits);

} // namespace remotemac::worker
