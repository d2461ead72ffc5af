#pragma once
// Runs this program again as a child, follows its journal, and says how it ended. A case that stops making progress is stopped by a
// deadline of its own. Blocking; the child never outlives the call.
#include "common/result.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace remotemac::worker {

struct ChildSpec {
  std::vector<std::string> arguments; // after the program's name
  std::filesystem::path journal;      // grows while the child makes progress
  std::map<std::string, std::string> environment; // set over ours; "" removes
  std::chrono::milliseconds quiet_limit{60'000};  // longest time without a new line in the journal
  std::chrono::milliseconds total_limit{600'000};
};

enum class EndOfChild { exited, signalled, quiet_limit, total_limit };

struct ChildResult {
  EndOfChild end = EndOfChild::exited;
  int exit_code = -1;
  int signal = 0;
  std::string stderr_tail; // cleaned, at most 4 KiB
  double seconds = 0;
};

// Error process when it cannot be started.
[[nodiscard]] Result<ChildResult> run_child(const ChildSpec& spec);
[[nodiscard]] Result<std::filesystem::path> this_program();
// "SIGABRT", or "signal 77" for the less known.
[[nodiscard]] std::string signal_name(int signal);

} // namespace remotemac::worker
