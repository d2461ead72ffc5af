#include "cli/command.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class ConfigCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("key", m_key, "show only this setting, or the one to set");
    app.add_option("value", m_value, "new value; \"\" sets it back to nothing");
  }

  Result<int> run(Context& context) override {
    const std::filesystem::path file = context.paths.config / "config.toml";
    if (m_value) {
      RM_TRY(set_config(file, m_key, *m_value));
      context.out.line(m_key + " = " + *m_value);
      context.out.json({{"key", m_key}, {"value", *m_value}});
      return 0;
    }
    nlohmann::json values = nlohmann::json::object();
    bool found = m_key.empty();
    for (const ConfigKey& key : config_keys()) {
      if (!m_key.empty() && key.name != m_key)
        continue;
      found = true;
      const ConfigValue& value = context.config.value(key.name);
      values[std::string(key.name)] = {{"value", value.value}, {"origin", value.origin}, {"environment", key.environment}, {"help", key.help}};
      const std::string shown = value.value.empty() ? "(nothing)" : clean_line(value.value);
      context.out.line(context.out.paint(key.name, Tone::strong) + " = " + shown + "   " + context.out.paint("# " + value.origin, Tone::faint));
      context.out.line("    " + std::string(key.help) + " (" + std::string(key.environment) + ")");
    }
    if (!found) {
      std::vector<std::string> names;
      for (const ConfigKey& key : config_keys())
        names.emplace_back(key.name);
      const std::string near = nearest(m_key, names);
      return Error(ErrorCode::usage, "there is no setting '" + clean_line(m_key, 100) + "'", near.empty() ? "known: " + join(names, ", ") : "did you mean '" + near + "'?");
    }
    context.out.json(values);
    return 0;
  }

private:
  std::string m_key;
  std::optional<std::string> m_value;
};
} // namespace

std::unique_ptr<Command> make_config();
std::unique_ptr<Command> make_config() { return std::make_unique<ConfigCommand>(); }

} // namespace remotemac::cli
