#include "daemon/host_config.h"

#include "common/text.h"

#include <functional>
#include <toml++/toml.h>

namespace remotemac::daemon {
namespace {
Error at(const toml::source_region& place, const std::string& what) {
  return Error(ErrorCode::config, "host.toml:" + std::to_string(place.begin.line) + ":" + std::to_string(place.begin.column) + ": " + what);
}

Result<void> take_path(const toml::node& node, const std::string& key, std::string& into) {
  const auto* text = node.as_string();
  if (text == nullptr || (!text->get().empty() && text->get().front() != '/'))
    return at(node.source(), "'" + key + "' must be an absolute path in quotes");
  into = text->get();
  return ok();
}

Result<void> take_paths(const toml::node& node, const std::string& key, std::vector<std::string>& into) {
  const auto* list = node.as_array();
  if (list == nullptr)
    return at(node.source(), "'" + key + "' must be a list of absolute paths");
  for (const toml::node& each : *list) {
    std::string path;
    RM_TRY(take_path(each, key, path));
    into.push_back(std::move(path));
  }
  return ok();
}

struct Key {
  const char* name;
  Result<void> (*take)(const toml::node&, HostConfig&);
};

// Every key of host.toml.
const Key k_keys[] = {
    {"python", [](const toml::node& n, HostConfig& c) { return take_path(n, "python", c.python); }},
    {"packages_from", [](const toml::node& n, HostConfig& c) { return take_path(n, "packages_from", c.packages_from); }},
    {"worker_preload", [](const toml::node& n, HostConfig& c) { return take_paths(n, "worker_preload", c.worker_preload); }},
    {"workers", [](const toml::node& n, HostConfig& c) { return take_paths(n, "workers", c.workers); }},
    {"allow_network",
     [](const toml::node& n, HostConfig& c) -> Result<void> {
       if (!n.is_boolean())
         return at(n.source(), "'allow_network' must be true or false");
       c.allow_network = n.as_boolean()->get() ? AllowNetwork::yes : AllowNetwork::no;
       return ok();
     }},
};

Result<HostConfig> from_table(const toml::table& table) {
  HostConfig config;
  std::vector<std::string> names;
  for (const Key& key : k_keys)
    names.emplace_back(key.name);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const Key* known = nullptr;
    for (const Key& each : k_keys)
      known = name == each.name ? &each : known;
    if (known == nullptr) {
      const std::string near = nearest(name, names);
      return at(node.source(), "unknown key '" + clean_line(name, 100) + "'" + (near.empty() ? "; known keys: " + join(names, ", ") : "; did you mean '" + near + "'?"));
    }
    RM_TRY(known->take(node, config));
  }
  return config;
}
} // namespace

Result<HostConfig> load_host_config(FileSystem& disk, const std::filesystem::path& file) {
  if (!disk.exists(file))
    return HostConfig{};
  RM_ASSIGN_WHILE("reading host.toml", const std::string text, disk.read_file(file, std::size_t{1} << 20));
  try {
    return from_table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return at(error.source(), clean_line(error.description(), 300));
  }
}

} // namespace remotemac::daemon
