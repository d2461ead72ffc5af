#pragma once
// The decision about one proposed file, after its bytes were read: built-in rules first, then the project's. Forbid, require, allow,
// deny, in this order; the project layer can only narrow. Pure functions.
#include "policies/decision.h"
#include "policies/inspect.h"
#include "policies/rule_file.h"

#include <optional>

namespace remotemac::policies {

// What is known about the host that the files would go to. Empty text: not recorded.
struct HostConditions {
  std::string name;
  std::string region;
  std::string operator_name;
  std::string operator_country;
  std::string contract_id;
  std::string contract_until; // date
  std::string lease_end;      // date or time
  bool is_local = false;      // this machine: nothing leaves
};

struct Ruling {
  std::string rule;
  std::string layer;
  std::string place;
  std::string reason;
};

struct BuiltInRule {
  std::string_view id;
  std::string_view meaning; // for docs/policy.md
};
[[nodiscard]] std::span<const BuiltInRule> built_in_rules();
[[nodiscard]] Ruling built_in(std::string_view id, std::string reason);

// Why nothing at all may go to this host now, if so.
[[nodiscard]] std::optional<Ruling> host_objection(const HostConditions& host, Moment now);
// Why a data set as a whole may not leave (class, missing proofs), if so. Independent of the files.
[[nodiscard]] std::optional<Ruling> declaration_objection(const DataSet& set, const std::string& file, const HostConditions& host, Moment now);
// Why these bytes may not leave, if so. `digest` is that of the whole file.
[[nodiscard]] std::optional<Ruling> content_objection(const DataSet& set, const std::string& path, const Digest& digest, const Inspection& inspection);
// What the project's own rules say against it, if so.
[[nodiscard]] std::optional<Ruling> project_objection(const ProjectPolicy& policy, const DataSet& set, const std::string& path, std::uint64_t size_bytes, const std::string& kind, const HostConditions& host, const std::string& purpose);

} // namespace remotemac::policies
