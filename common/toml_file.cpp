#include "common/toml_file.h"

#include "common/text.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <toml++/toml.h>
#include <tuple>

namespace remotemac {
namespace {
template <typename Stream> std::string streamed(const Stream& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TomlValue convert(const toml::node& node);

TomlValue convert_table(const toml::table& table) {
  TomlValue out;
  for (const auto& [key, value] : table) {
    TomlValue member = convert(value);
    // A table written by a dotted key has no place of its own; the key's place is what a person looks for.
    if (member.line == 0) {
      member.line = static_cast<int>(key.source().begin.line);
      member.column = static_cast<int>(key.source().begin.column);
    }
    out.members.emplace_back(std::string(key.str()), std::move(member));
  }
  std::sort(out.members.begin(), out.members.end(), [](const auto& a, const auto& b) { return std::tie(a.second.line, a.second.column, a.first) < std::tie(b.second.line, b.second.column, b.first); });
  return out;
}

TomlValue convert(const toml::node& node) {
  TomlValue out;
  if (const auto* table = node.as_table()) {
    out = convert_table(*table);
  } else if (const auto* array = node.as_array()) {
    out.kind = TomlValue::Kind::array;
    for (const toml::node& item : *array)
      out.items.push_back(convert(item));
  } else if (const auto* text = node.as_string()) {
    out.kind = TomlValue::Kind::text;
    out.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    out.kind = TomlValue::Kind::integer;
    out.integer = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    out.kind = TomlValue::Kind::number;
    out.number = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    out.kind = TomlValue::Kind::boolean;
    out.flag = flag->get();
  } else if (const auto* date = node.as_date()) {
    out.kind = TomlValue::Kind::date;
    out.text = streamed(date->get());
  } else if (const auto* date_time = node.as_date_time()) {
    out.kind = TomlValue::Kind::date;
    out.text = streamed(date_time->get());
  }
  out.line = static_cast<int>(node.source().begin.line);
  out.column = static_cast<int>(node.source().begin.column);
  return out;
}

std::string place(const std::string& file, int line, int column) { return file + ":" + std::to_string(line) + ":" + std::to_string(column); }

std::optional<std::uint64_t> scaled(std::string_view digits, double factor) {
  double value = 0;
  try {
    std::size_t used = 0;
    value = std::stod(std::string(digits), &used);
    if (used != digits.size())
      return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
  value *= factor;
  if (!(value >= 0) || value > 9e15)
    return std::nullopt;
  return static_cast<std::uint64_t>(value);
}
} // namespace

const TomlValue* TomlValue::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key)
      return &value;
  }
  return nullptr;
}

Result<TomlValue> parse_toml(std::string_view text, const std::string& file) {
  try {
    return convert(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    return Error(ErrorCode::config, place(file, static_cast<int>(at.line), static_cast<int>(at.column)) + ": not valid TOML: " + clean_line(error.description(), 300),
                 "strings need quotes, every key = value stands on its own line, lists use [ ]");
  }
}

std::string toml_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : clean_line(text, 65536)) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "\"";
}

TomlReader::TomlReader(const TomlValue& table, std::string file, std::string where) : m_table(table), m_file(std::move(file)), m_where(std::move(where)) {
  if (table.kind != TomlValue::Kind::table)
    complain(table, m_where + " must be a table");
}

void TomlReader::complain(const TomlValue& at, const std::string& what, const std::string& hint) {
  if (!m_complaint)
    m_complaint = Error(ErrorCode::config, place(m_file, at.line, at.column) + ": " + what, hint);
}

const TomlValue* TomlReader::get(std::string_view key, TomlValue::Kind kind, const char* expected) {
  know(key);
  const TomlValue* value = m_table.find(key);
  if (value == nullptr || value->kind == kind)
    return value;
  complain(*value, "'" + std::string(key) + "' in " + m_where + " must be " + expected);
  return nullptr;
}

std::optional<std::string> TomlReader::text(std::string_view key) {
  const TomlValue* value = m_table.find(key);
  if (value != nullptr && value->kind == TomlValue::Kind::date) {
    know(key);
    return value->text;
  }
  value = get(key, TomlValue::Kind::text, "text in quotes");
  return value == nullptr ? std::nullopt : std::optional(value->text);
}

std::optional<std::int64_t> TomlReader::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  const TomlValue* value = get(key, TomlValue::Kind::integer, "a whole number");
  if (value == nullptr)
    return std::nullopt;
  if (value->integer < min || value->integer > max)
    complain(*value, "'" + std::string(key) + "' in " + m_where + " must lie between " + std::to_string(min) + " and " + std::to_string(max));
  return value->integer;
}

std::optional<double> TomlReader::number(std::string_view key) {
  know(key);
  const TomlValue* value = m_table.find(key);
  if (value == nullptr)
    return std::nullopt;
  if (value->kind == TomlValue::Kind::integer)
    return static_cast<double>(value->integer);
  if (value->kind == TomlValue::Kind::number)
    return value->number;
  complain(*value, "'" + std::string(key) + "' in " + m_where + " must be a number");
  return std::nullopt;
}

std::optional<bool> TomlReader::flag(std::string_view key) {
  const TomlValue* value = get(key, TomlValue::Kind::boolean, "true or false");
  return value == nullptr ? std::nullopt : std::optional(value->flag);
}

std::vector<std::string> TomlReader::texts(std::string_view key) {
  std::vector<std::string> out;
  const TomlValue* value = get(key, TomlValue::Kind::array, "a list of texts, for example [\"train.py\"]");
  if (value == nullptr)
    return out;
  for (const TomlValue& item : value->items) {
    if (item.kind != TomlValue::Kind::text)
      complain(item, "every item of '" + std::string(key) + "' in " + m_where + " must be text in quotes");
    out.push_back(item.text);
  }
  return out;
}

std::map<std::string, std::string> TomlReader::text_map(std::string_view key) {
  std::map<std::string, std::string> out;
  const TomlValue* value = get(key, TomlValue::Kind::table, "a table of texts");
  if (value == nullptr)
    return out;
  for (const auto& [name, member] : value->members) {
    if (member.kind != TomlValue::Kind::text)
      complain(member, "'" + name + "' in " + m_where + " must be text in quotes");
    out[name] = member.text;
  }
  return out;
}

std::optional<std::uint64_t> TomlReader::seconds(std::string_view key) {
  know(key);
  const TomlValue* value = m_table.find(key);
  if (value == nullptr)
    return std::nullopt;
  if (value->kind == TomlValue::Kind::integer && value->integer > 0)
    return static_cast<std::uint64_t>(value->integer);
  if (value->kind == TomlValue::Kind::text) {
    if (const auto parsed = parse_duration(value->text); parsed && *parsed > 0)
      return parsed;
  }
  complain(*value, "'" + std::string(key) + "' in " + m_where + " must be a time such as 90 (seconds), \"10m\" or \"1h30m\"");
  return std::nullopt;
}

std::optional<std::uint64_t> TomlReader::bytes(std::string_view key) {
  know(key);
  const TomlValue* value = m_table.find(key);
  if (value == nullptr)
    return std::nullopt;
  if (value->kind == TomlValue::Kind::integer && value->integer > 0)
    return static_cast<std::uint64_t>(value->integer);
  if (value->kind == TomlValue::Kind::text) {
    if (const auto parsed = parse_size(value->text); parsed && *parsed > 0)
      return parsed;
  }
  complain(*value, "'" + std::string(key) + "' in " + m_where + " must be a size such as 1000000, \"64MB\" or \"1GiB\"");
  return std::nullopt;
}

const TomlValue* TomlReader::table(std::string_view key) { return get(key, TomlValue::Kind::table, "a table"); }

std::optional<std::string> TomlReader::word(std::string_view key, const std::vector<std::string>& words) {
  auto value = text(key);
  if (!value || std::find(words.begin(), words.end(), *value) != words.end())
    return value;
  const std::string near = nearest(*value, words);
  complain(*m_table.find(key), "'" + std::string(key) + "' in " + m_where + " must be one of " + join(words, ", ") + ", not '" + clean_line(*value, 100) + "'",
           near.empty() ? "" : "did you mean '" + near + "'?");
  return std::nullopt;
}

Result<void> TomlReader::finish() {
  for (const auto& [key, value] : m_table.members) {
    if (std::find(m_known.begin(), m_known.end(), key) != m_known.end())
      continue;
    const std::string near = nearest(key, m_known);
    complain(value, "unknown key '" + clean_line(key, 100) + "' in " + m_where, near.empty() ? "known here: " + join(m_known, ", ") : "did you mean '" + near + "'? Known here: " + join(m_known, ", "));
  }
  if (m_complaint)
    return *m_complaint;
  return ok();
}

std::optional<std::uint64_t> parse_duration(std::string_view text) {
  std::uint64_t total = 0;
  bool any = false;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0)
      return std::nullopt;
    const std::string_view number = text.substr(0, digits);
    double factor = 1;
    std::size_t used = number.size();
    if (digits != std::string_view::npos) {
      const char unit = text[digits];
      factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86400 : -1;
      used += 1;
    }
    const auto part = factor < 0 ? std::nullopt : scaled(number, factor);
    if (!part)
      return std::nullopt;
    total += *part;
    any = true;
    text.remove_prefix(used);
  }
  return any ? std::optional(total) : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  static constexpr std::pair<std::string_view, double> k_units[] = {{"KiB", 1024.0},          {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
                                                                    {"kB", 1e3},              {"KB", 1e3},        {"MB", 1e6},           {"GB", 1e9},
                                                                    {"TB", 1e12},             {"B", 1.0},         {"", 1.0}};
  for (const auto& [unit, factor] : k_units) {
    if (text.size() > unit.size() && text.ends_with(unit))
      return scaled(trim(text.substr(0, text.size() - unit.size())), factor);
  }
  return std::nullopt;
}

} // namespace remotemac
