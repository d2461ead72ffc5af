#pragma once
// A command of `remotemac`: one source file under cli/commands/ and one line in cli/commands.cpp.
#include "cli/config.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "common/clock.h"
#include "common/process_runner.h"
#include "common/result.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace remotemac::cli {

// What a command may use. Made once in app.cpp; commands keep no state of their own between runs.
struct Context {
  Output& out;
  const Paths& paths;
  const Config& config;
  const Clock& clock;
  ProcessRunner& processes;
  Interrupts& interrupts;
  std::filesystem::path executable; // of remotemac itself: daemon and worker lie beside it
};

class Command {
public:
  virtual ~Command() = default;
  // Declares flags and arguments; the description and the example come from the list.
  virtual void declare(CLI::App& app) = 0;
  // The exit status, or an error that the caller prints.
  [[nodiscard]] virtual Result<int> run(Context& context) = 0;
};

struct CommandEntry {
  std::string_view name; // "host add" for a command of a group
  std::string_view summary;
  std::string_view example; // one line, printed by --help
  std::unique_ptr<Command> (*make)();
};

// In the order in which help shows them.
[[nodiscard]] const std::vector<CommandEntry>& command_list();

} // namespace remotemac::cli
