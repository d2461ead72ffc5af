#pragma once
// What a person records about a host (contract, region, lease, interpreters): one table for the flags of `host add`, the questions on a
// terminal, and what --replace keeps.
#include "cli/hosts.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::cli {

enum class FactKind { text, date };

struct HostFact {
  std::string_view name; // also of the flag, after "--"
  std::string HostRecord::*member;
  FactKind kind;
  std::string_view meaning;  // of the flag
  std::string_view question; // on a terminal; "" = not asked

  [[nodiscard]] std::string flag() const { return "--" + std::string(name); }
};

// In the order in which they are asked.
[[nodiscard]] std::span<const HostFact> host_facts();

using GivenFacts = std::set<std::string, std::less<>>; // names of facts that were given by flag, also if empty: that clears

// Every fact that was not given becomes what the old record says.
void keep_facts(HostRecord& host, const HostRecord& old, const GivenFacts& given);
// Names of the facts that were not given and are as the old record had them; empty ones are not named.
[[nodiscard]] std::vector<std::string> kept_facts(const HostRecord& host, const HostRecord& old, const GivenFacts& given);
// Asks for each fact that was not given; what is recorded already is the default answer, "-" clears it. A date that is none is asked again.
using AskFact = std::function<Result<std::string>(const std::string& question, const std::string& flag)>;
[[nodiscard]] Result<void> ask_facts(HostRecord& host, const GivenFacts& given, const AskFact& ask);
// Error usage that names the flag of a date that is none.
[[nodiscard]] Result<void> check_facts(const HostRecord& host);

} // namespace remotemac::cli
