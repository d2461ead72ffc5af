#pragma once
// The command line of remotemac: global flags, dispatch, exit status. The only place besides the commands' declare() that knows CLI11.
#include <string>
#include <vector>

namespace remotemac::cli {

[[nodiscard]] int run_app(const std::vector<std::string>& arguments);
// Markdown of all commands with flags and examples, for docs/commands.md.
[[nodiscard]] std::string commands_reference();

} // namespace remotemac::cli
