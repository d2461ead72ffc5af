#include "policies/rule_file.h"

#include "common/key_doc.h"
#include "common/text.h"
#include "common/toml_file.h"

#include <set>

namespace remotemac::policies {
namespace {
// The documentation of every key that the readers below know; docs/policy_reference.md is made from it.
constexpr KeyDoc k_keys[] = {
    {"[[data]]", "name", "text", "name of the data set in decisions, reports and the audit log"},
    {"[[data]]", "class", "code, synthetic, anonymized, released (pseudonymized, personal: refused)", "what the files are; decides which proofs are needed"},
    {"[[data]]", "include", "list of patterns", "the files that are proposed"},
    {"[[data]]", "generator", "text", "synthetic: the program that made the data"},
    {"[[data]]", "source", "synthetic: none, public, personal; released: text", "what the generator learned from; who published the data and where"},
    {"[[data]]", "seed", "whole number", "synthetic: the number the generator was started with"},
    {"[[data]]", "regeneration_sha256", "table \"path\" = \"sha256\"", "synthetic: what the generator makes again; compared with every file"},
    {"[[data]]", "risk_report", "text", "synthetic from personal data: where the disclosure risk scores are kept"},
    {"[[data]]", "method", "text", "anonymized: how"},
    {"[[data]]", "assessor", "text", "anonymized: who assessed the risk (a role)"},
    {"[[data]]", "date", "date", "anonymized: when that was assessed"},
    {"[[data]]", "reassess_by", "date", "anonymized: until when the assessment holds"},
    {"[[data]]", "quasi_identifiers", "list of column names", "anonymized: columns by which people could be found together"},
    {"[[data]]", "k", "whole number from 2", "anonymized: the smallest group; counted again in every table"},
    {"[[data]]", "license", "text", "released: the licence"},
    {"[[data]]", "version", "text", "released: version or DOI"},
    {"[[data]]", "redistribution", "true, false", "released: may copies be passed on?"},
    {"[[exclude]]", "paths", "list of patterns", "files that stay here though they are proposed"},
    {"[[exclude]]", "reason", "text", "why"},
    {"[[rule]]", "id", "text", "name of the rule in decisions"},
    {"[[rule]]", "effect", "forbid, require", "forbid: does not leave; require: leaves only under the only_* conditions"},
    {"[[rule]]", "reason", "text", "why"},
    {"[[rule]]", "paths", "list of patterns", "applies to these files (all)"},
    {"[[rule]]", "classes", "list of classes", "applies to these classes (all)"},
    {"[[rule]]", "kinds", "list of text, json, table, notebook, array", "applies to files of these kinds (all)"},
    {"[[rule]]", "larger_than", "size", "applies to files larger than this"},
    {"[[rule]]", "hosts", "list of names", "applies to these hosts (all)"},
    {"[[rule]]", "purposes", "list of purposes", "applies to these purposes (all)"},
    {"[[rule]]", "only_hosts", "list of names", "require: the host must be one of these"},
    {"[[rule]]", "only_regions", "list of texts", "require: the host's recorded region must be one of these"},
    {"[[rule]]", "only_operator_countries", "list of texts", "require: the host's recorded operator country must be one of these"},
    {"[[rule]]", "only_purposes", "list of purposes", "require: the project's purpose must be one of these"},
};

std::vector<Glob> globs(TomlReader& reader, const TomlValue& table, std::string_view key) {
  std::vector<Glob> out;
  for (const std::string& text : reader.texts(key)) {
    Result<Glob> glob = Glob::create(text);
    if (glob)
      out.push_back(std::move(*glob));
    else
      reader.complain(*table.find(key), glob.error().message(), glob.error().hint());
  }
  return out;
}

void read_regeneration(TomlReader& reader, const TomlValue& table, DataSet& set) {
  for (const auto& [path, hex] : reader.text_map("regeneration_sha256")) {
    const Result<Digest> digest = Digest::from_hex(hex);
    if (digest)
      set.regeneration.emplace(path, *digest);
    else
      reader.complain(*table.find("regeneration_sha256")->find(path), "the digest of '" + clean_line(path, 200) + "' is not 64 lower-case hex digits", "sha256sum prints it");
  }
}

Result<DataSet> read_data(const TomlValue& table, const std::string& file) {
  TomlReader reader(table, file, "[[data]]");
  DataSet set;
  set.line = table.line;
  set.name = reader.text("name").value_or("");
  if (set.name.empty() || set.name.size() > 100 || clean_line(set.name) != set.name)
    reader.complain(table, "a [[data]] table needs a name", "write for example: name = \"source\"");
  const auto data_class = reader.word("class", data_class_names());
  if (!data_class)
    reader.complain(table, "a [[data]] table needs a class", "write class = \"code\", \"synthetic\", \"anonymized\" or \"released\"");
  set.data_class = data_class ? data_class_from(*data_class).value_or(DataClass::personal) : DataClass::personal;
  set.include = globs(reader, table, "include");
  if (set.include.empty())
    reader.complain(table, "a [[data]] table needs include", "write for example: include = [\"*.py\"]");
  set.generator = reader.text("generator").value_or("");
  if (set.data_class == DataClass::synthetic)
    set.generator_source = reader.word("source", {"none", "public", "personal"}).value_or("");
  else
    set.source = reader.text("source").value_or("");
  set.seed = reader.integer("seed", INT64_MIN, INT64_MAX);
  read_regeneration(reader, table, set);
  set.risk_report = reader.text("risk_report").value_or("");
  set.method = reader.text("method").value_or("");
  set.assessor = reader.text("assessor").value_or("");
  set.assessed = reader.text("date").value_or("");
  set.reassess_by = reader.text("reassess_by").value_or("");
  set.quasi_identifiers = reader.texts("quasi_identifiers");
  set.k = reader.integer("k", 2, 1'000'000);
  set.license = reader.text("license").value_or("");
  set.version = reader.text("version").value_or("");
  set.redistribution = reader.flag("redistribution");
  RM_TRY(reader.finish());
  return set;
}

Result<Exclude> read_exclude(const TomlValue& table, const std::string& file) {
  TomlReader reader(table, file, "[[exclude]]");
  Exclude out;
  out.line = table.line;
  out.paths = globs(reader, table, "paths");
  if (out.paths.empty())
    reader.complain(table, "an [[exclude]] table needs paths", "write for example: paths = [\"data/private/**\"]");
  out.reason = reader.text("reason").value_or("");
  RM_TRY(reader.finish());
  return out;
}

std::vector<DataClass> classes(TomlReader& reader, const TomlValue& table) {
  std::vector<DataClass> out;
  for (const std::string& name : reader.texts("classes")) {
    if (const auto value = data_class_from(name))
      out.push_back(*value);
    else
      reader.complain(*table.find("classes"), "'" + clean_line(name, 100) + "' is not a class", "classes: " + join(data_class_names(), ", "));
  }
  return out;
}

Result<ProjectRule> read_rule(const TomlValue& table, const std::string& file) {
  TomlReader reader(table, file, "[[rule]]");
  ProjectRule rule;
  rule.line = table.line;
  rule.id = reader.text("id").value_or("");
  if (rule.id.empty() || rule.id.size() > 100 || clean_line(rule.id) != rule.id)
    reader.complain(table, "a [[rule]] table needs an id", "write for example: id = \"no-tables\"");
  const auto effect = reader.word("effect", {"forbid", "require"});
  if (!effect)
    reader.complain(table, "a [[rule]] table needs an effect: forbid or require", "a project can only narrow; what may leave is declared in [[data]]");
  rule.effect = effect == "require" ? Effect::require : Effect::forbid;
  rule.reason = reader.text("reason").value_or("");
  rule.paths = globs(reader, table, "paths");
  rule.classes = classes(reader, table);
  rule.kinds = reader.texts("kinds");
  rule.larger_than = reader.bytes("larger_than");
  rule.hosts = reader.texts("hosts");
  rule.purposes = reader.texts("purposes");
  rule.only_hosts = reader.texts("only_hosts");
  rule.only_regions = reader.texts("only_regions");
  rule.only_operator_countries = reader.texts("only_operator_countries");
  rule.only_purposes = reader.texts("only_purposes");
  const bool asks = !rule.only_hosts.empty() || !rule.only_regions.empty() || !rule.only_operator_countries.empty() || !rule.only_purposes.empty();
  if (effect == "require" && !asks)
    reader.complain(table, "the rule '" + rule.id + "' requires nothing", "write only_hosts, only_regions, only_operator_countries or only_purposes");
  if (effect == "forbid" && asks)
    reader.complain(table, "the rule '" + rule.id + "' forbids, so only_* has no meaning in it", "use effect = \"require\"");
  const std::set<std::string> known{"text", "json", "table", "notebook", "array"};
  for (const std::string& kind : rule.kinds) {
    if (!known.contains(kind))
      reader.complain(*table.find("kinds"), "'" + clean_line(kind, 100) + "' is not a kind", "kinds: text, json, table, notebook, array");
  }
  RM_TRY(reader.finish());
  return rule;
}

// The array of tables under `key`; a single table by mistake ([data] for [[data]]) is told as such.
Result<std::vector<const TomlValue*>> tables(const TomlValue& document, std::string_view key, const std::string& file) {
  std::vector<const TomlValue*> out;
  const TomlValue* value = document.find(key);
  if (value == nullptr)
    return out;
  const std::string place = file + ":" + std::to_string(value->line) + ":" + std::to_string(value->column);
  if (value->kind != TomlValue::Kind::array)
    return Error(ErrorCode::config, place + ": '" + std::string(key) + "' must be a list of tables", "write [[" + std::string(key) + "]] with two brackets");
  for (const TomlValue& item : value->items)
    out.push_back(&item);
  return out;
}
} // namespace

Result<ProjectPolicy> parse_project_policy(const std::string& text, const std::string& file) {
  ProjectPolicy out;
  out.file = file;
  out.digest = sha256(text);
  RM_ASSIGN(const TomlValue document, parse_toml(text, file));
  std::set<std::string> names;
  RM_ASSIGN(const auto data, tables(document, "data", file));
  for (const TomlValue* table : data) {
    RM_ASSIGN(DataSet set, read_data(*table, file));
    if (!names.insert(set.name).second)
      return Error(ErrorCode::config, file + ":" + std::to_string(table->line) + ":1: two [[data]] tables are called '" + set.name + "'", "give each its own name");
    out.data.push_back(std::move(set));
  }
  RM_ASSIGN(const auto excludes, tables(document, "exclude", file));
  for (const TomlValue* table : excludes) {
    RM_ASSIGN(Exclude exclude, read_exclude(*table, file));
    out.excludes.push_back(std::move(exclude));
  }
  names.clear();
  RM_ASSIGN(const auto rules, tables(document, "rule", file));
  for (const TomlValue* table : rules) {
    RM_ASSIGN(ProjectRule rule, read_rule(*table, file));
    if (!names.insert(rule.id).second)
      return Error(ErrorCode::config, file + ":" + std::to_string(table->line) + ":1: two [[rule]] tables have the id '" + rule.id + "'", "give each its own id");
    out.rules.push_back(std::move(rule));
  }
  return out;
}

std::string policy_reference() { return key_table(k_keys); }

} // namespace remotemac::policies
