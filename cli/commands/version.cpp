#include "cli/command.h"
#include "common/version.h"
#include "sync/ssh/ssh_transport.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class VersionCommand final : public Command {
public:
  void declare(CLI::App&) override {}
  Result<int> run(Context& context) override {
    const std::string libssh = sync::libssh_version();
    context.out.line(std::string("remotemac ") + k_version);
    context.out.line("protocol " + std::to_string(k_protocol_min) + " to " + std::to_string(k_protocol_max));
    context.out.line("libssh " + libssh);
    context.out.json({{"version", k_version}, {"protocol", {k_protocol_min, k_protocol_max}}, {"libssh", libssh}});
    return 0;
  }
};
} // namespace

std::unique_ptr<Command> make_version();
std::unique_ptr<Command> make_version() { return std::make_unique<VersionCommand>(); }

} // namespace remotemac::cli
