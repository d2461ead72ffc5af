#include "cli/command.h"
#include "cli/remote.h"
#include "common/json.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class HostShowCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("name", m_name, "the host's name")->required();
    app.add_flag("--offline", m_offline, "do not connect; show only what is recorded here");
  }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const HostStore store, HostStore::load(context.paths, context.config));
    RM_ASSIGN(const HostRecord host, store.find(m_name));
    nlohmann::json record{{"name", host.name},           {"destination", host.destination},   {"host_keys", host.fingerprints},     {"system", host.system},       {"machine", host.machine},
                          {"region", host.region},       {"operator", host.operator_name},    {"operator_country", host.operator_country}, {"contract_id", host.contract_id}, {"contract_until", host.contract_until},
                          {"lease_end", host.lease_end}, {"install_dir", host.install_dir},   {"state_dir", host.state_dir},        {"python", host.python},       {"packages_from", host.packages_from},
                          {"added", host.added}};
    for (const auto& [key, value] : record.items()) {
      if (value.is_array() ? !value.empty() : value != "")
        print(context.out, key, value.is_array() ? clean_line(value.dump()) : clean_line(value.get<std::string>()));
    }
    nlohmann::json facts;
    if (!m_offline) {
      RM_ASSIGN(const Session session, open_session(context, host));
      RM_ASSIGN(facts, session.client->host_facts());
      context.out.line();
      for (const auto& [key, value] : facts.items())
        print(context.out, clean_line(key, 60), clean_line(value.is_string() ? value.get<std::string>() : value.is_null() ? "not found out" : dump_json(value, -1)));
    }
    context.out.json({{"host", record}, {"facts", facts}});
    return 0;
  }

private:
  static void print(Output& out, const std::string& key, const std::string& value) {
    char label[32];
    std::snprintf(label, sizeof label, "%-20s", key.c_str());
    out.line(out.paint(label, Tone::faint) + " " + value);
  }

  std::string m_name;
  bool m_offline = false;
};
} // namespace

std::unique_ptr<Command> make_host_show();
std::unique_ptr<Command> make_host_show() { return std::make_unique<HostShowCommand>(); }

} // namespace remotemac::cli
