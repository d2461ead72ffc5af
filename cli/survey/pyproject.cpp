// pyproject.toml: PEP 621, dependency groups (PEP 735), and Poetry's own tables.
#include "cli/survey/packages.h"
#include "cli/survey/requirement.h"
#include "cli/survey/requirement_files.h"
#include "common/text.h"
#include "common/toml_file.h"

namespace remotemac::survey {
namespace {
using Kind = TomlValue::Kind;

const TomlValue* at(const TomlValue* table, std::string_view key, Kind kind) {
  const TomlValue* found = table != nullptr && table->kind == Kind::table ? table->find(key) : nullptr;
  return found != nullptr && found->kind == kind ? found : nullptr;
}

class PyprojectReader {
public:
  PyprojectReader(const std::string& file, RequirementFindings& out) : m_file(file), m_out(out) {}

  void read(const TomlValue& document) {
    const TomlValue* project = at(&document, "project", Kind::table);
    list(at(project, "dependencies", Kind::array), "");
    groups(at(project, "optional-dependencies", Kind::table));
    groups(at(&document, "dependency-groups", Kind::table));
    const TomlValue* tool = at(&document, "tool", Kind::table);
    poetry(at(tool, "poetry", Kind::table));
    const TomlValue* uv = at(tool, "uv", Kind::table);
    list(at(uv, "dev-dependencies", Kind::array), "dev");
    indexes(at(uv, "index", Kind::array));
    if (const TomlValue* dynamic = at(project, "dynamic", Kind::array))
      for (const TomlValue& item : dynamic->items)
        if (item.text == "dependencies")
          m_out.gaps.push_back({m_file, "says that its dependencies are computed when it is built"});
  }

private:
  SurveyRequirement place(const TomlValue& value, std::string group, const char* reader) const {
    SurveyRequirement out;
    out.group = std::move(group);
    out.reader = reader;
    out.file = m_file;
    out.line = value.line;
    return out;
  }

  void list(const TomlValue* items, const std::string& group) {
    if (items == nullptr)
      return;
    for (const TomlValue& item : items->items)
      if (item.kind == Kind::text)
        add_requirement(m_out, item.text, place(item, group, "pyproject"));
  }

  void groups(const TomlValue* table) {
    if (table == nullptr)
      return;
    for (const auto& [name, items] : table->members)
      if (items.kind == Kind::array)
        list(&items, name);
  }

  void indexes(const TomlValue* items) {
    if (items == nullptr)
      return;
    for (const TomlValue& item : items->items)
      if (const TomlValue* url = at(&item, "url", Kind::text))
        add_index(m_out, url->text, m_file, url->line);
  }

  void poetry(const TomlValue* table) {
    if (table == nullptr)
      return;
    poetry_table(at(table, "dependencies", Kind::table), "");
    poetry_table(at(table, "dev-dependencies", Kind::table), "dev");
    if (const TomlValue* all = at(table, "group", Kind::table))
      for (const auto& [name, group] : all->members)
        poetry_table(at(&group, "dependencies", Kind::table), name);
    indexes(at(table, "source", Kind::array));
  }

  void poetry_table(const TomlValue* table, const std::string& group) {
    if (table == nullptr)
      return;
    for (const auto& [name, value] : table->members) {
      if (name == "python")
        continue;
      if (value.kind == Kind::array) // the same package under several markers
        for (const TomlValue& item : value.items)
          poetry_entry(name, item, group);
      else
        poetry_entry(name, value, group);
    }
  }

  void poetry_entry(const std::string& name, const TomlValue& value, const std::string& group) {
    SurveyRequirement out = place(value, group, "poetry");
    out.name = normalised_name(name);
    out.source = "index";
    if (value.kind == Kind::text) {
      out.specifier = clean_line(value.text, 200);
    } else if (value.kind == Kind::table) {
      poetry_details(value, out);
    } else {
      m_out.gaps.push_back({m_file + ":" + std::to_string(value.line), "is not a requirement that can be read"});
      return;
    }
    add_parsed(m_out, std::move(out));
  }

  static void poetry_details(const TomlValue& value, SurveyRequirement& out) {
    if (const TomlValue* version = at(&value, "version", Kind::text))
      out.specifier = clean_line(version->text, 200);
    for (const char* source : {"git", "url", "path"})
      if (const TomlValue* origin = at(&value, source, Kind::text)) {
        out.source = source;
        out.origin = origin->text.starts_with('/') ? std::string("(absolute path)") : url_without_secrets(origin->text);
      }
    if (const TomlValue* extras = at(&value, "extras", Kind::array))
      for (const TomlValue& extra : extras->items)
        out.extras.push_back(normalised_name(extra.text));
    if (const TomlValue* markers = at(&value, "markers", Kind::text))
      out.marker = clean_line(markers->text, 512);
    if (const TomlValue* platform = at(&value, "platform", Kind::text); platform != nullptr && out.marker.empty())
      out.marker = "sys_platform == \"" + clean_line(platform->text, 64) + "\"";
    out.skipped_on_mac = marker_on_mac(out.marker) == Marker::no;
    const TomlValue* optional = at(&value, "optional", Kind::boolean);
    if (optional != nullptr && optional->flag && out.group.empty())
      out.group = "optional";
  }

  const std::string& m_file;
  RequirementFindings& m_out;
};
} // namespace

void read_pyproject(const std::string& text, const std::string& file, RequirementFindings& out) {
  Result<TomlValue> document = parse_toml(text, file);
  if (document)
    PyprojectReader(file, out).read(*document);
  else
    out.gaps.push_back({file, "is not valid TOML: " + clean_line(document.error().message(), 300)});
}

} // namespace remotemac::survey
