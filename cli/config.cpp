#include "cli/config.h"

#include "common/toml_file.h"
#include "common/check.h"
#include "common/file_system.h"
#include "common/text.h"

#include <algorithm>
#include <cstdlib>

namespace remotemac::cli {
namespace {
constexpr ConfigKey k_table[] = {
    {"host.default", ConfigType::text, "", "REMOTEMAC_HOST", "", "host that run, jobs and logs use when --host is not given"},
    {"local.python", ConfigType::path, "", "REMOTEMAC_LOCAL_PYTHON", "", "interpreter for jobs on host local; empty: python3 found by the daemon"},
    {"local.packages_from", ConfigType::path, "", "REMOTEMAC_LOCAL_PACKAGES_FROM", "",
     "interpreter whose installed packages (torch) jobs on host local may use, instead of installing them again"},
    {"output.colour", ConfigType::word, "auto", "REMOTEMAC_COLOUR", "auto,always,never", "colour on terminals"},
    {"ssh.config", ConfigType::path, "", "REMOTEMAC_SSH_CONFIG", "", "ssh client configuration; empty: ~/.ssh/config"},
    {"ssh.connect_timeout", ConfigType::seconds, "20s", "REMOTEMAC_SSH_CONNECT_TIMEOUT", "", "longest wait for a connection and login"},
};

Result<void> check_value(const ConfigKey& key, std::string_view value) {
  if (clean_line(value, value.size() + 1) != value)
    return Error(ErrorCode::config, "the value of '" + std::string(key.name) + "' holds control characters");
  if (key.type == ConfigType::word) {
    const std::vector<std::string> words = split(key.words, ',');
    if (std::find(words.begin(), words.end(), value) == words.end())
      return Error(ErrorCode::config, "'" + std::string(key.name) + "' must be one of " + join(words, ", ") + ", not '" + clean_line(value, 100) + "'");
  }
  if (key.type == ConfigType::seconds && !parse_duration(value))
    return Error(ErrorCode::config, "'" + std::string(key.name) + "' must be a time such as 20s or 2m, not '" + clean_line(value, 100) + "'");
  if (key.type == ConfigType::path && !value.empty() && value.front() != '/')
    return Error(ErrorCode::config, "'" + std::string(key.name) + "' must be an absolute path, not '" + clean_line(value, 100) + "'");
  return ok();
}

const ConfigKey* find_key(std::string_view name) {
  const auto* it = std::find_if(std::begin(k_table), std::end(k_table), [&](const ConfigKey& key) { return key.name == name; });
  return it == std::end(k_table) ? nullptr : it;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const ConfigKey& key : k_table)
    out.emplace_back(key.name);
  return out;
}

Error unknown_key(std::string_view name, const std::string& place) {
  const std::string near = nearest(name, names());
  return Error(ErrorCode::config, place + "unknown key '" + clean_line(name, 100) + "'", near.empty() ? "known keys: " + join(names(), ", ") : "did you mean '" + near + "'?");
}

std::string text_of(const TomlValue& value) {
  return value.kind == TomlValue::Kind::integer ? std::to_string(value.integer) : value.text;
}
} // namespace

std::span<const ConfigKey> config_keys() { return k_table; }

Result<Config> Config::load(const std::filesystem::path& file) {
  Config out;
  for (const ConfigKey& key : k_table)
    out.m_values[std::string(key.name)] = {std::string(key.fallback), "default"};
  PosixFileSystem disk;
  if (disk.exists(file)) {
    RM_ASSIGN(const std::string text, disk.read_file(file, 1u << 20));
    const std::string shown = file.filename().string();
    RM_ASSIGN(const TomlValue document, parse_toml(text, shown));
    for (const auto& [group, table] : document.members) {
      for (const auto& [name, value] : table.members) {
        const std::string key_name = group + "." + name;
        const std::string place = shown + ":" + std::to_string(value.line);
        const ConfigKey* key = find_key(key_name);
        if (key == nullptr)
          return unknown_key(key_name, place + ": ");
        RM_TRY_WHILE(place, check_value(*key, text_of(value)));
        out.m_values[key_name] = {text_of(value), place};
      }
      if (table.kind != TomlValue::Kind::table)
        return unknown_key(group, shown + ":" + std::to_string(table.line) + ": ");
    }
  }
  for (const ConfigKey& key : k_table) {
    if (const char* value = std::getenv(std::string(key.environment).c_str()); value != nullptr) {
      RM_TRY_WHILE("environment variable " + std::string(key.environment), check_value(key, value));
      out.m_values[std::string(key.name)] = {value, "environment " + std::string(key.environment)};
    }
  }
  return out;
}

const ConfigValue& Config::value(std::string_view key) const {
  const auto it = m_values.find(key);
  RM_CHECK(it != m_values.end());
  return it->second;
}

std::uint64_t Config::seconds(std::string_view key) const { return parse_duration(text(key)).value_or(0); }

Result<void> set_config(const std::filesystem::path& file, std::string_view name, std::string_view value) {
  const ConfigKey* key = find_key(name);
  if (key == nullptr)
    return unknown_key(name, "");
  RM_TRY(check_value(*key, value));
  PosixFileSystem disk;
  std::map<std::string, std::map<std::string, std::string>> groups;
  if (disk.exists(file)) {
    RM_TRY(Config::load(file)); // never rewrites a file that it does not understand
    RM_ASSIGN(const std::string text, disk.read_file(file, 1u << 20));
    RM_ASSIGN(const TomlValue document, parse_toml(text, file.filename().string()));
    for (const auto& [group, table] : document.members) {
      for (const auto& [member, member_value] : table.members)
        groups[group][member] = text_of(member_value);
    }
  }
  const std::size_t dot = name.find('.');
  groups[std::string(name.substr(0, dot))][std::string(name.substr(dot + 1))] = std::string(value);
  std::string out = "# Settings of remotemac for this user; see: remotemac config\n";
  for (const auto& [group, members] : groups) {
    out += "\n[" + group + "]\n";
    for (const auto& [member, member_value] : members)
      out += member + " = " + toml_quote(member_value) + "\n";
  }
  RM_TRY(disk.make_dirs(file.parent_path()));
  return disk.write_atomic(file, out, 0600);
}

Result<Paths> Paths::from_environment() {
  const auto folder = [](const char* variable, const char* below_home) -> std::filesystem::path {
    const char* value = std::getenv(variable);
    if (value != nullptr && value[0] == '/')
      return std::filesystem::path(value) / "remotemac";
    const char* home = std::getenv("HOME");
    return home == nullptr || home[0] != '/' ? std::filesystem::path() : std::filesystem::path(home) / below_home / "remotemac";
  };
  Paths out{folder("XDG_CONFIG_HOME", ".config"), folder("XDG_STATE_HOME", ".local/state"), folder("XDG_CACHE_HOME", ".cache")};
  if (out.config.empty() || out.state.empty() || out.cache.empty())
    return Error(ErrorCode::config, "neither HOME nor the XDG folders are set", "set HOME to your home folder");
  return out;
}

} // namespace remotemac::cli
