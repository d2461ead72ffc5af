#pragma once
// Settings of the user (not of a project): one table of keys, each with type, default, environment variable and help; values remember
// where they came from. A synced project can never set one of these.
#include "common/result.h"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::cli {

enum class ConfigType { text, path, seconds, word };

struct ConfigKey {
  std::string_view name;
  ConfigType type;
  std::string_view fallback;
  std::string_view environment;
  std::string_view words; // for word: comma separated
  std::string_view help;
};

[[nodiscard]] std::span<const ConfigKey> config_keys();

struct ConfigValue {
  std::string value;
  std::string origin; // "default", "environment NAME", "config.toml:3"
};

class Config {
public:
  // A missing file is fine; a broken one, or an unknown key, is an error with its place.
  [[nodiscard]] static Result<Config> load(const std::filesystem::path& file);
  [[nodiscard]] const ConfigValue& value(std::string_view key) const; // key must be in the table
  [[nodiscard]] const std::string& text(std::string_view key) const { return value(key).value; }
  [[nodiscard]] std::uint64_t seconds(std::string_view key) const;
  [[nodiscard]] const std::map<std::string, ConfigValue, std::less<>>& all() const { return m_values; }

private:
  std::map<std::string, ConfigValue, std::less<>> m_values;
};

// Writes key = value into the file, keeping everything else; checks key and value first.
[[nodiscard]] Result<void> set_config(const std::filesystem::path& file, std::string_view key, std::string_view value);

// Where things of the user lie (XDG base directories).
struct Paths {
  std::filesystem::path config; // hosts.toml, config.toml
  std::filesystem::path state;  // audit/, jobs.jsonl, local-host/
  std::filesystem::path cache;  // judge.sqlite

  // Error config when neither the XDG variables nor HOME are set.
  [[nodiscard]] static Result<Paths> from_environment();
};

} // namespace remotemac::cli
