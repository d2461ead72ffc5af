#include "policies/inspectors.h"

#include "common/json.h"
#include "common/text.h"

#include <nlohmann/json.hpp>
#include <set>

namespace remotemac::policies {
namespace {
using nlohmann::json;
constexpr std::size_t k_depth = 64;
enum class Keys { may_repeat, once };

// Collects every key and string as it stands after unescaping, duplicate keys included: a parsed tree would hide the first of two.
class Strings final : public nlohmann::json_sax<json> {
public:
  explicit Strings(Keys keys) : m_once(keys == Keys::once) {}
  std::string text;   // one string per line
  std::string broken; // why the document is not JSON
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t& value) override { return keep(value); }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (m_once)
      m_keys.emplace_back();
    return deeper();
  }
  bool key(string_t& value) override {
    if (m_once && !m_keys.back().insert(value).second) {
      broken = "a key stands twice in one object, and readers differ in which they show";
      return false;
    }
    return keep(value);
  }
  bool end_object() override {
    if (m_once)
      m_keys.pop_back();
    return shallower();
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    broken = "not valid JSON at byte " + std::to_string(position);
    return false;
  }

private:
  bool keep(const std::string& value) {
    text += value;
    text += '\n';
    return true;
  }
  bool deeper() {
    if (++m_depth <= k_depth)
      return true;
    broken = "nested deeper than " + std::to_string(k_depth);
    return false;
  }
  bool shallower() {
    --m_depth;
    return true;
  }
  bool m_once;
  std::vector<std::set<std::string>> m_keys; // of the objects that are open, when they must not repeat
  std::size_t m_depth = 0;
};

// false when refused
bool scan_document(std::string_view text, Inspection& inspection, const std::string& place, Keys keys = Keys::may_repeat) {
  Strings strings(keys);
  if (!json::sax_parse(text.begin(), text.end(), &strings)) {
    refuse(inspection, "builtin.unreadable", strings.broken + (place.empty() ? "" : " (" + place + ")"));
    return false;
  }
  Inspection inner;
  scan_text(text, TextShape::running, inner, place);
  // What the raw text shows already has its line; only what unescaping brings to light is new.
  Inspection unescaped;
  scan_text(strings.text, TextShape::running, unescaped, place.empty() ? "in a string" : place);
  for (Finding& finding : unescaped.findings) {
    const auto known = std::find_if(inner.findings.begin(), inner.findings.end(), [&](const Finding& other) { return other.detector == finding.detector; });
    if (known == inner.findings.end())
      inner.findings.push_back(std::move(finding));
    else
      known->confidence = std::max(known->confidence, finding.confidence);
  }
  merge(inspection.findings, std::move(inner.findings));
  return true;
}

std::uint64_t check_output(const json& output, std::size_t cell, Inspection& inspection) {
  const json& data = json_at(output, "data");
  if (data.is_object()) {
    for (const auto& [mime, value] : data.items()) {
      if (mime.rfind("text/", 0) != 0 && mime != "application/json" && mime != "application/javascript")
        refuse(inspection, "builtin.no-inspector", "no inspector for " + clean_line(mime, 80) + " in the output of cell " + std::to_string(cell));
    }
  }
  return 1;
}

bool is_nothing(const json& value) { return value.is_null() || (value.is_structured() && value.empty()); }

// What a person sees as output may stand in other places than a cell's list of outputs: they are empty, or counted, or refused.
void check_cell(const json& cell, std::size_t number, Inspection& inspection) {
  const std::string where = "cell " + std::to_string(number);
  const json& outputs = json_at(cell, "outputs");
  if (!cell.is_object() || (!outputs.is_array() && !is_nothing(outputs)))
    return refuse(inspection, "builtin.unreadable", where + " is not in the form of a notebook");
  if (outputs.is_array()) {
    for (const json& output : outputs)
      inspection.notebook_outputs += check_output(output, number, inspection);
  }
  if (!is_nothing(json_at(cell, "attachments")))
    refuse(inspection, "builtin.no-inspector", "no inspector for the attachment of " + where);
}

void check_cells(const json& notebook, Inspection& inspection) {
  if (!is_nothing(json_at(notebook, "worksheets")))
    return refuse(inspection, "builtin.unreadable", "a notebook with cells of format 3 (convert it with: jupyter nbconvert --to notebook)");
  if (!is_nothing(json_at(json_at(notebook, "metadata"), "widgets")))
    ++inspection.notebook_outputs; // the state of widgets is what they showed
  const json& cells = json_at(notebook, "cells");
  if (!cells.is_array())
    return refuse(inspection, "builtin.unreadable", "a notebook without cells (format 4 is read; convert older ones with: jupyter nbconvert --to notebook)");
  std::size_t number = 0;
  for (const json& cell : cells)
    check_cell(cell, ++number, inspection);
}
} // namespace

void inspect_json(const std::vector<DecodedText>& readings, Inspection& inspection) {
  inspection.kind = "json";
  for (const DecodedText& reading : readings)
    scan_document(reading.utf8, inspection, {});
}

void inspect_json_lines(const std::vector<DecodedText>& readings, Inspection& inspection) {
  inspection.kind = "json";
  for (const DecodedText& reading : readings) {
    std::size_t number = 0;
    for (const std::string& line : split(reading.utf8, '\n')) {
      ++number;
      if (!trim(line).empty() && !scan_document(line, inspection, "line " + std::to_string(number)))
        return;
    }
  }
}

void inspect_notebook(const std::vector<DecodedText>& readings, Inspection& inspection) {
  inspection.kind = "notebook";
  if (readings.size() != 1 || readings.front().encoding != "UTF-8")
    return refuse(inspection, "builtin.unreadable", "a notebook that is not UTF-8");
  if (!scan_document(readings.front().utf8, inspection, {}, Keys::once))
    return;
  const Result<json> notebook = parse_json(readings.front().utf8, "the notebook");
  if (!notebook)
    return refuse(inspection, "builtin.unreadable", notebook.error().message());
  check_cells(*notebook, inspection);
}

} // namespace remotemac::policies
