#include "cli/command.h"
#include "cli/hosts.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class HostListCommand final : public Command {
public:
  void declare(CLI::App&) override {}
  Result<int> run(Context& context) override {
    RM_ASSIGN(const HostStore store, HostStore::load(context.paths, context.config));
    nlohmann::json list = nlohmann::json::array();
    for (const HostRecord& host : store.hosts()) {
      list.push_back({{"name", host.name}, {"destination", host.destination}, {"system", host.system}, {"machine", host.machine}, {"region", host.region}, {"operator", host.operator_name}, {"lease_end", host.lease_end}});
      std::string line = context.out.paint(host.name, Tone::strong);
      line += host.is_local() ? "  this machine; jobs here never leave it" : "  " + clean_line(host.destination) + "  " + host.system + " " + host.machine;
      if (!host.region.empty())
        line += "  region " + clean_line(host.region);
      if (!host.lease_end.empty())
        line += "  lease until " + clean_line(host.lease_end);
      context.out.line(line);
    }
    context.out.json({{"hosts", list}});
    return 0;
  }
};
} // namespace

std::unique_ptr<Command> make_host_list();
std::unique_ptr<Command> make_host_list() { return std::make_unique<HostListCommand>(); }

} // namespace remotemac::cli
