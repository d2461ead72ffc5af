#pragma once
// TOML as plain values with positions, so that every complaint about a configuration file can name file, line and column and what
// was expected. The only place that sees toml++ is toml_file.cpp.
#include "common/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace remotemac {

struct TomlValue {
  enum class Kind { table, array, text, integer, number, boolean, date };
  Kind kind = Kind::table;
  std::string text; // text and dates (as written)
  std::int64_t integer = 0;
  double number = 0;
  bool flag = false;
  std::vector<TomlValue> items;
  std::vector<std::pair<std::string, TomlValue>> members; // in file order
  int line = 0;
  int column = 0;

  [[nodiscard]] const TomlValue* find(std::string_view key) const;
};

// `file` is the name used in messages.
[[nodiscard]] Result<TomlValue> parse_toml(std::string_view text, const std::string& file);
// Quoted TOML string.
[[nodiscard]] std::string toml_quote(std::string_view text);

// Reads one table with a fixed vocabulary. Each getter marks its key as known; finish() complains about the others, naming the
// nearest known key. The first complaint wins and is kept until finish().
class TomlReader {
public:
  // `where` is the table's name in messages ("[run]").
  TomlReader(const TomlValue& table, std::string file, std::string where);

  std::optional<std::string> text(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max);
  std::optional<double> number(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  std::map<std::string, std::string> text_map(std::string_view key);
  // "90", "10m", "1h30m", "2d" -> seconds
  std::optional<std::uint64_t> seconds(std::string_view key);
  // 1000, "64MB", "1GiB"
  std::optional<std::uint64_t> bytes(std::string_view key);
  const TomlValue* table(std::string_view key);
  // One of the words, or a complaint that lists them.
  std::optional<std::string> word(std::string_view key, const std::vector<std::string>& words);
  void know(std::string_view key) { m_known.emplace_back(key); }
  void complain(const TomlValue& at, const std::string& what, const std::string& hint = {});
  [[nodiscard]] Result<void> finish();

private:
  const TomlValue* get(std::string_view key, TomlValue::Kind kind, const char* expected);
  const TomlValue& m_table;
  std::string m_file;
  std::string m_where;
  std::vector<std::string> m_known;
  std::optional<Error> m_complaint;
};

[[nodiscard]] std::optional<std::uint64_t> parse_duration(std::string_view text); // seconds
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);     // bytes

} // namespace remotemac
