// Environment markers: or / and / parentheses / comparisons, three-valued because the Mac's Python version is not known here.
#include "cli/survey/requirement.h"
#include "common/text.h"

#include <array>
#include <cctype>
#include <utility>

namespace remotemac::survey {
namespace {
constexpr int k_max_depth = 50;

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> k_mac = {{
    {"sys_platform", "darwin"},
    {"platform_system", "Darwin"},
    {"os_name", "posix"},
    {"platform_machine", "arm64"},
    {"platform_python_implementation", "CPython"},
    {"implementation_name", "cpython"},
}};

class MarkerParser {
public:
  explicit MarkerParser(std::string_view text) : m_rest(text) {}

  Marker parse() {
    const Marker value = either();
    return m_broken || !trim(m_rest).empty() ? Marker::unknown : value;
  }

private:
  Marker either() {
    Marker value = both();
    while (!m_broken && word("or")) {
      const Marker right = both();
      if (value == Marker::yes || right == Marker::yes)
        value = Marker::yes;
      else if (value == Marker::unknown || right == Marker::unknown)
        value = Marker::unknown;
    }
    return value;
  }

  Marker both() {
    Marker value = single();
    while (!m_broken && word("and")) {
      const Marker right = single();
      if (value == Marker::no || right == Marker::no)
        value = Marker::no;
      else if (value == Marker::unknown || right == Marker::unknown)
        value = Marker::unknown;
    }
    return value;
  }

  Marker single() {
    if (++m_depth > k_max_depth)
      return fail();
    if (symbol("(")) {
      const Marker value = either();
      --m_depth;
      return symbol(")") ? value : fail();
    }
    --m_depth;
    return comparison();
  }

  Marker comparison() {
    const auto [left, left_known] = value();
    const std::string op = operation();
    const auto [right, right_known] = value();
    if (op.empty())
      return fail();
    if (m_broken || !left_known || !right_known)
      return Marker::unknown;
    bool holds = false;
    if (op == "==" || op == "===")
      holds = left == right;
    else if (op == "!=")
      holds = left != right;
    else if (op == "in")
      holds = right.find(left) != std::string::npos;
    else if (op == "not in")
      holds = right.find(left) == std::string::npos;
    else
      return Marker::unknown;
    return holds ? Marker::yes : Marker::no;
  }

  // The text of a quoted string or of a variable, and whether it is known.
  std::pair<std::string, bool> value() {
    m_rest = trim(m_rest);
    if (!m_rest.empty() && (m_rest.front() == '"' || m_rest.front() == '\'')) {
      const std::size_t end = m_rest.find(m_rest.front(), 1);
      if (end == std::string_view::npos)
        return {"", fail() == Marker::yes};
      std::string text(m_rest.substr(1, end - 1));
      m_rest.remove_prefix(end + 1);
      return {std::move(text), true};
    }
    std::size_t length = 0;
    while (length < m_rest.size() && (std::isalnum(static_cast<unsigned char>(m_rest[length])) != 0 || m_rest[length] == '_' || m_rest[length] == '.'))
      ++length;
    if (length == 0)
      return {"", fail() == Marker::yes};
    const std::string_view name = m_rest.substr(0, length);
    m_rest.remove_prefix(length);
    for (const auto& [variable, text] : k_mac)
      if (variable == name)
        return {std::string(text), true};
    return {"", false};
  }

  std::string operation() {
    for (const std::string_view op : {"===", "==", "!=", "<=", ">=", "~=", "<", ">"})
      if (symbol(op))
        return std::string(op);
    if (word("not"))
      return word("in") ? "not in" : "";
    return word("in") ? "in" : "";
  }

  bool symbol(std::string_view text) {
    m_rest = trim(m_rest);
    if (!m_rest.starts_with(text))
      return false;
    m_rest.remove_prefix(text.size());
    return true;
  }

  bool word(std::string_view text) {
    m_rest = trim(m_rest);
    if (!m_rest.starts_with(text))
      return false;
    if (m_rest.size() > text.size() && (std::isalnum(static_cast<unsigned char>(m_rest[text.size()])) != 0 || m_rest[text.size()] == '_'))
      return false;
    m_rest.remove_prefix(text.size());
    return true;
  }

  Marker fail() {
    m_broken = true;
    return Marker::unknown;
  }

  std::string_view m_rest;
  int m_depth = 0;
  bool m_broken = false;
};
} // namespace

Marker marker_on_mac(std::string_view marker) {
  if (trim(marker).empty())
    return Marker::yes;
  return MarkerParser(marker).parse();
}

} // namespace remotemac::survey
