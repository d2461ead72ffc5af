#pragma once
// The hosts of a user: where they are, which key they must show, under which contract. hosts.toml is written by `host add`; people may edit it.
// `local` always exists and is not in the file.
#include "cli/config.h"
#include "common/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::cli {

struct HostRecord {
  std::string name;
  std::string destination;               // user@host, ssh alias or ssh:// URL; "" for local
  std::vector<std::string> fingerprints; // SHA256:..., any of them is accepted
  std::string install_dir;               // absolute, on the host
  std::string state_dir;                 // absolute, on the host
  std::string system;                    // Darwin or Linux
  std::string machine;                   // arm64, x86_64
  std::string python;                    // interpreter on the host, "" = its default
  std::string packages_from;
  std::string region;
  std::string operator_name;
  std::string operator_country;
  std::string contract_id;
  std::string contract_until; // date, "" = not recorded
  std::string lease_end;      // date or time, "" = not recorded
  std::string added;

  [[nodiscard]] bool is_local() const { return name == "local"; }
};

[[nodiscard]] Result<void> check_host_name(std::string_view name);

class HostStore {
public:
  [[nodiscard]] static Result<HostStore> load(const Paths& paths, const Config& config);
  [[nodiscard]] const std::vector<HostRecord>& hosts() const { return m_hosts; } // local first
  // Error no_host with the nearest known name.
  [[nodiscard]] Result<HostRecord> find(std::string_view name) const;
  [[nodiscard]] Result<void> put(HostRecord host);
  [[nodiscard]] Result<void> remove(std::string_view name);

private:
  [[nodiscard]] Result<void> save() const;
  std::filesystem::path m_file;
  std::vector<HostRecord> m_hosts;
};

} // namespace remotemac::cli
