#pragma once
// The policy part of remotemac.toml: [[data]] (what may be proposed, with its proofs), [[exclude]] (what stays though proposed) and
// [[rule]] (the project layer, which can only narrow). Read from text; errors give file, line, column and what was expected.
#include "policies/declaration.h"

namespace remotemac::policies {

struct Exclude {
  std::vector<Glob> paths;
  std::string reason;
  int line = 0;
};

// forbid: what it describes must not leave. require: what it describes leaves only if its `only_*` conditions hold.
enum class Effect { forbid, require };

struct ProjectRule {
  std::string id;
  Effect effect = Effect::forbid;
  std::string reason;
  int line = 0;
  // What it describes; an empty list means any.
  std::vector<Glob> paths;
  std::vector<DataClass> classes;
  std::vector<std::string> kinds;
  std::optional<std::uint64_t> larger_than; // bytes
  std::vector<std::string> hosts;
  std::vector<std::string> purposes;
  // What a require asks for; an empty list asks for nothing.
  std::vector<std::string> only_hosts;
  std::vector<std::string> only_regions;
  std::vector<std::string> only_operator_countries;
  std::vector<std::string> only_purposes;
};

struct ProjectPolicy {
  std::vector<DataSet> data;
  std::vector<Exclude> excludes;
  std::vector<ProjectRule> rules;
  std::string file; // name in messages
  Digest digest;    // of the whole file's text
};

[[nodiscard]] Result<ProjectPolicy> parse_project_policy(const std::string& text, const std::string& file);
// For docs/policy.md: Markdown of every table and key with its meaning.
[[nodiscard]] std::string policy_reference();

} // namespace remotemac::policies
