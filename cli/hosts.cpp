#include "cli/hosts.h"

#include "common/toml_file.h"
#include "common/file_system.h"
#include "common/text.h"

#include <algorithm>

namespace remotemac::cli {
namespace {
// One table for reading and writing, so that no field can be forgotten on one side.
struct Field {
  const char* key;
  std::string HostRecord::*member;
};

constexpr Field k_fields[] = {{"destination", &HostRecord::destination},
                              {"install_dir", &HostRecord::install_dir},
                              {"state_dir", &HostRecord::state_dir},
                              {"system", &HostRecord::system},
                              {"machine", &HostRecord::machine},
                              {"python", &HostRecord::python},
                              {"packages_from", &HostRecord::packages_from},
                              {"region", &HostRecord::region},
                              {"operator", &HostRecord::operator_name},
                              {"operator_country", &HostRecord::operator_country},
                              {"contract_id", &HostRecord::contract_id},
                              {"contract_until", &HostRecord::contract_until},
                              {"lease_end", &HostRecord::lease_end},
                              {"added", &HostRecord::added}};

Result<HostRecord> read_host(const std::string& name, const TomlValue& table, const std::string& file) {
  HostRecord host;
  host.name = name;
  TomlReader reader(table, file, "[" + name + "]");
  for (const Field& field : k_fields)
    host.*field.member = reader.text(field.key).value_or("");
  host.fingerprints = reader.texts("host_keys");
  if (host.destination.empty())
    reader.complain(table, "[" + name + "] needs a destination", "destination = \"me@host\"");
  if (host.fingerprints.empty())
    reader.complain(table, "[" + name + "] needs host_keys, the pinned fingerprints", "remove the table and run 'remotemac host add' again");
  RM_TRY(reader.finish());
  return host;
}
} // namespace

Result<void> check_host_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= 64 && name != "local" && name.front() != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
  if (!good)
    return Error(ErrorCode::usage, "'" + clean_line(name, 100) + "' cannot be a host's name", "use letters, digits, '-', '_' and '.'; 'local' is taken");
  return ok();
}

Result<HostStore> HostStore::load(const Paths& paths, const Config& config) {
  HostStore out;
  out.m_file = paths.config / "hosts.toml";
  HostRecord local;
  local.name = "local";
  local.state_dir = (paths.state / "local-host").string();
  local.python = config.text("local.python");
  local.packages_from = config.text("local.packages_from");
  out.m_hosts.push_back(local);
  PosixFileSystem disk;
  if (!disk.exists(out.m_file))
    return out;
  RM_ASSIGN(const std::string text, disk.read_file(out.m_file, 1u << 20));
  const std::string shown = out.m_file.filename().string();
  RM_ASSIGN(const TomlValue document, parse_toml(text, shown));
  for (const auto& [name, table] : document.members) {
    RM_TRY_WHILE(shown + ":" + std::to_string(table.line), check_host_name(name));
    RM_ASSIGN(HostRecord host, read_host(name, table, shown));
    out.m_hosts.push_back(std::move(host));
  }
  return out;
}

Result<HostRecord> HostStore::find(std::string_view name) const {
  std::vector<std::string> names;
  for (const HostRecord& host : m_hosts) {
    if (host.name == name)
      return host;
    names.push_back(host.name);
  }
  const std::string near = nearest(name, names);
  return Error(ErrorCode::no_host, "there is no host '" + clean_line(name, 100) + "'",
               near.empty() || near == "local" ? "known: " + join(names, ", ") + "; add one with: remotemac host add NAME USER@ADDRESS" : "did you mean '" + near + "'?");
}

Result<void> HostStore::put(HostRecord host) {
  const auto same = std::find_if(m_hosts.begin(), m_hosts.end(), [&](const HostRecord& each) { return each.name == host.name; });
  if (same != m_hosts.end())
    *same = std::move(host);
  else
    m_hosts.push_back(std::move(host));
  return save();
}

Result<void> HostStore::remove(std::string_view name) {
  std::erase_if(m_hosts, [&](const HostRecord& each) { return !each.is_local() && each.name == name; });
  return save();
}

Result<void> HostStore::save() const {
  std::string out = "# Hosts of remotemac. host_keys are the pinned SSH host keys: a host that shows another one is refused.\n";
  for (const HostRecord& host : m_hosts) {
    if (host.is_local())
      continue;
    out += "\n[" + toml_quote(host.name) + "]\n";
    std::vector<std::string> keys;
    for (const std::string& key : host.fingerprints)
      keys.push_back(toml_quote(key));
    out += "host_keys = [" + join(keys, ", ") + "]\n";
    for (const Field& field : k_fields) {
      if (!(host.*field.member).empty())
        out += std::string(field.key) + " = " + toml_quote(host.*field.member) + "\n";
    }
  }
  PosixFileSystem disk;
  RM_TRY(disk.make_dirs(m_file.parent_path()));
  return disk.write_atomic(m_file, out, 0600);
}

} // namespace remotemac::cli
