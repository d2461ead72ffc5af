#include "policies/rules.h"

#include "common/text.h"

#include <algorithm>
#include <array>

namespace remotemac::policies {
namespace {
constexpr std::array k_built_in{
    BuiltInRule{"builtin.default-deny", "what no [[data]] table proposes stays here"},
    BuiltInRule{"builtin.declared", "proposed, every proof there, read to the end, no finding that the class does not bear: may leave"},
    BuiltInRule{"builtin.git", "version control folders never leave"},
    BuiltInRule{"builtin.own-state", "remotemac's own folder (.remotemac) never leaves"},
    BuiltInRule{"builtin.clutter", "what desktops leave behind (.DS_Store, ._*) is left out"},
    BuiltInRule{"builtin.symlink", "symlinks are not followed and not sent"},
    BuiltInRule{"builtin.hard-link", "a file with a second name elsewhere is refused"},
    BuiltInRule{"builtin.special-file", "only regular files leave"},
    BuiltInRule{"builtin.file-system", "the walk does not leave the project's file system"},
    BuiltInRule{"builtin.pointer", "Git LFS, git-annex and DVC pointers stand for data that nobody judged"},
    BuiltInRule{"builtin.bad-name", "names must be valid UTF-8 without control or direction characters"},
    BuiltInRule{"builtin.collision", "two names that a Mac's file system would make one"},
    BuiltInRule{"builtin.ambiguous", "a file that two data sets claim"},
    BuiltInRule{"builtin.too-large", "files above 2 GiB are not read to the end"},
    BuiltInRule{"builtin.unreadable", "what cannot be read to the end by its inspector"},
    BuiltInRule{"builtin.changed", "a file that changed while it was judged"},
    BuiltInRule{"builtin.no-inspector", "what no inspector understands"},
    BuiltInRule{"builtin.class", "pseudonymized and personal data never leave"},
    BuiltInRule{"builtin.proof", "a declaration that lacks a proof of its class"},
    BuiltInRule{"builtin.regeneration", "a synthetic file that is not what the generator makes again"},
    BuiltInRule{"builtin.k-anonymity", "a table whose groups are smaller than declared"},
    BuiltInRule{"builtin.finding", "a detector found something that the class does not bear"},
    BuiltInRule{"builtin.data-as-code", "tables and arrays are data: class code does not bear them"},
    BuiltInRule{"builtin.notebook-output", "outputs of a notebook that is declared as code"},
    BuiltInRule{"builtin.contract", "the host's contract has ended, or anonymized data would go without one"},
    BuiltInRule{"builtin.lease", "the host's lease has ended"},
};

bool covered(const std::vector<Glob>& globs, const std::string& path) {
  return std::any_of(globs.begin(), globs.end(), [&](const Glob& glob) { return glob.covers(path); });
}

template <typename T, typename U> bool holds(const std::vector<T>& list, const U& value) { return std::find(list.begin(), list.end(), value) != list.end(); }

// Code may hold an author's address; data must hold nothing that a detector is reasonably sure of.
Confidence borne_below(DataClass data_class) { return data_class == DataClass::code ? Confidence::high : Confidence::medium; }

std::optional<Ruling> table_objection(const DataSet& set, const Inspection& inspection) {
  if (inspection.kind != "table" || !inspection.table)
    return built_in("builtin.k-anonymity", "declared as anonymized with k = " + std::to_string(*set.k) + ", but groups can be counted in tables (CSV, TSV) only, and this is " + (inspection.kind.empty() ? "none" : inspection.kind));
  const TableFacts& table = *inspection.table;
  if (!table.missing_columns.empty())
    return built_in("builtin.k-anonymity", "the table has no column '" + clean_line(join(table.missing_columns, "', '"), 200) + "', which quasi_identifiers names");
  if (table.rows > 0 && table.smallest_group < static_cast<std::uint64_t>(*set.k))
    return built_in("builtin.k-anonymity", "the smallest group over the quasi-identifiers has " + std::to_string(table.smallest_group) + " of " + std::to_string(table.rows) + " rows (" + std::to_string(table.unique_rows) +
                                               " rows are unique); k = " + std::to_string(*set.k) + " was declared");
  return std::nullopt;
}

bool applies(const ProjectRule& rule, const DataSet& set, const std::string& path, std::uint64_t size_bytes, const std::string& kind, const HostConditions& host, const std::string& purpose) {
  return (rule.paths.empty() || covered(rule.paths, path)) && (rule.classes.empty() || holds(rule.classes, set.data_class)) && (rule.kinds.empty() || holds(rule.kinds, kind)) &&
         (!rule.larger_than || size_bytes > *rule.larger_than) && (rule.hosts.empty() || holds(rule.hosts, host.name)) && (rule.purposes.empty() || holds(rule.purposes, purpose));
}

// "" when the requirement holds; what is not recorded does not hold.
std::string unmet(const ProjectRule& rule, const HostConditions& host, const std::string& purpose) {
  const auto check = [](const std::vector<std::string>& allowed, const std::string& value, const char* what) {
    return allowed.empty() || holds(allowed, value) ? std::string() : std::string(what) + " is " + (value.empty() ? "not recorded" : clean_line(value, 100)) + ", allowed: " + clean_line(join(allowed, ", "), 200);
  };
  for (std::string text : {check(rule.only_hosts, host.name, "the host"), check(rule.only_regions, host.region, "the host's region"), check(rule.only_operator_countries, host.operator_country, "the operator's country"),
                           check(rule.only_purposes, purpose, "the purpose")}) {
    if (!text.empty())
      return text;
  }
  return {};
}
} // namespace

std::span<const BuiltInRule> built_in_rules() { return k_built_in; }

Ruling built_in(std::string_view id, std::string reason) { return {std::string(id), "built-in", {}, std::move(reason)}; }

std::optional<Ruling> host_objection(const HostConditions& host, Moment now) {
  if (host.is_local)
    return std::nullopt;
  const auto over = [&](const std::string& text) {
    const auto end = end_of(text);
    return !text.empty() && (!end || *end <= now); // a date that cannot be read does not hold
  };
  if (over(host.contract_until))
    return built_in("builtin.contract", "the contract with the operator of host " + host.name + " ended on " + clean_line(host.contract_until, 40));
  if (over(host.lease_end))
    return built_in("builtin.lease", "the lease of host " + host.name + " ended on " + clean_line(host.lease_end, 40));
  return std::nullopt;
}

std::optional<Ruling> declaration_objection(const DataSet& set, const std::string& file, const HostConditions& host, Moment now) {
  const std::vector<std::string> missing = missing_proofs(set, now);
  const bool refused_class = set.data_class == DataClass::pseudonymized || set.data_class == DataClass::personal;
  std::optional<Ruling> out;
  if (refused_class)
    out = built_in("builtin.class", missing.front());
  else if (!missing.empty())
    out = built_in("builtin.proof", "class " + std::string(name_of(set.data_class)) + " needs " + join(missing, "; and "));
  else if (set.data_class == DataClass::anonymized && !host.is_local && (host.contract_id.empty() || host.region.empty()))
    out = built_in("builtin.contract", "anonymized data need a host whose contract and region are recorded; host " + host.name + " has none (host add --contract --region)");
  if (out)
    out->place = file + ":" + std::to_string(set.line);
  return out;
}

std::optional<Ruling> content_objection(const DataSet& set, const std::string& path, const Digest& digest, const Inspection& inspection) {
  if (!inspection.refusal.empty())
    return built_in(inspection.rule, inspection.refusal);
  std::vector<Finding> heavy;
  for (const Finding& finding : inspection.findings) {
    if (finding.confidence >= borne_below(set.data_class))
      heavy.push_back(finding);
  }
  if (!heavy.empty())
    return built_in("builtin.finding", "found " + describe(heavy));
  if (set.data_class == DataClass::code && (inspection.kind == "table" || inspection.kind == "array"))
    return built_in("builtin.data-as-code", "a table or an array is data, not code: declare it in a [[data]] table of class synthetic, anonymized or released");
  if (set.data_class == DataClass::code && inspection.notebook_outputs > 0)
    return built_in("builtin.notebook-output", "holds " + std::to_string(inspection.notebook_outputs) + " outputs, and outputs hold data: clear them (jupyter nbconvert --clear-output --inplace) or declare the notebook as data");
  if (set.data_class == DataClass::synthetic && set.generator_source != "personal") {
    const auto proof = set.regeneration.find(path);
    if (proof == set.regeneration.end())
      return built_in("builtin.regeneration", "regeneration_sha256 does not name this file: nothing shows that the generator made it");
    if (proof->second != digest)
      return built_in("builtin.regeneration", "is not what regeneration_sha256 says the generator makes: it was changed, or made by something else");
  }
  return set.data_class == DataClass::anonymized ? table_objection(set, inspection) : std::nullopt;
}

std::optional<Ruling> project_objection(const ProjectPolicy& policy, const DataSet& set, const std::string& path, std::uint64_t size_bytes, const std::string& kind, const HostConditions& host, const std::string& purpose) {
  const auto ruling = [&](const ProjectRule& rule, const std::string& why) {
    return Ruling{rule.id, "project", policy.file + ":" + std::to_string(rule.line), why + (rule.reason.empty() ? "" : why.empty() ? clean_line(rule.reason, 300) : " (" + clean_line(rule.reason, 300) + ")")};
  };
  for (const ProjectRule& rule : policy.rules) {
    if (rule.effect == Effect::forbid && applies(rule, set, path, size_bytes, kind, host, purpose))
      return ruling(rule, rule.reason.empty() ? "forbidden by the project" : "");
  }
  for (const ProjectRule& rule : policy.rules) {
    if (rule.effect != Effect::require || !applies(rule, set, path, size_bytes, kind, host, purpose))
      continue;
    if (const std::string why = unmet(rule, host, purpose); !why.empty())
      return ruling(rule, why);
  }
  return std::nullopt;
}

} // namespace remotemac::policies
