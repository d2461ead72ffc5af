#include "daemon/host_config.h"

#include "common/toml_file.h"

namespace remotemac::daemon {
namespace {
constexpr const char* k_file = "host.toml";

bool usable(const std::string& path) { return path.empty() || path.front() == '/'; }

std::string path_of(TomlReader& reader, const TomlValue& table, const char* key) {
  std::string path = reader.text(key).value_or("");
  if (!usable(path))
    reader.complain(*table.find(key), std::string("'") + key + "' must be an absolute path in quotes");
  return path;
}

std::vector<std::string> paths_of(TomlReader& reader, const TomlValue& table, const char* key) {
  std::vector<std::string> paths = reader.texts(key);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!usable(paths[i]))
      reader.complain(table.find(key)->items.at(i), std::string("every item of '") + key + "' must be an absolute path in quotes");
  }
  return paths;
}
} // namespace

Result<HostConfig> load_host_config(FileSystem& disk, const std::filesystem::path& file) {
  if (!disk.exists(file))
    return HostConfig{};
  RM_ASSIGN_WHILE("reading host.toml", const std::string text, disk.read_file(file, std::size_t{1} << 20));
  RM_ASSIGN(const TomlValue table, parse_toml(text, k_file));
  TomlReader reader(table, k_file, k_file);
  HostConfig config;
  config.python = path_of(reader, table, "python");
  config.packages_from = path_of(reader, table, "packages_from");
  config.worker_preload = paths_of(reader, table, "worker_preload");
  config.workers = paths_of(reader, table, "workers");
  config.allow_network = reader.flag("allow_network").value_or(false) ? AllowNetwork::yes : AllowNetwork::no;
  RM_TRY(reader.finish());
  return config;
}

} // namespace remotemac::daemon
