#include "cli/report/display.h"

#include "common/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utf8proc.h>

namespace remotemac::report {
namespace {
constexpr std::string_view k_no_break_space = "\xC2\xA0";
constexpr std::int32_t k_zero_width_non_joiner = 0x200C;
constexpr std::int32_t k_zero_width_joiner = 0x200D;
constexpr std::int32_t k_emoji_selector = 0xFE0F;
constexpr int k_max_marks = 4;

// What a terminal draws in one place: a character and the marks on it.
struct Cell {
  std::string_view bytes;
  int width = 0;
  std::size_t span = 0;
};

std::size_t next(std::string_view text, std::int32_t& code_point) {
  utf8proc_int32_t c = -1;
  const utf8proc_ssize_t length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                   static_cast<utf8proc_ssize_t>(text.size()), &c);
  code_point = length > 0 ? c : -1;
  return length > 0 ? static_cast<std::size_t>(length) : 1;
}

bool is_mark(std::int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

bool is_shown(std::int32_t c) {
  switch (utf8proc_category(c)) {
  case UTF8PROC_CATEGORY_CF:
    return c == k_zero_width_joiner || c == k_zero_width_non_joiner;
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  default:
    return true;
  }
}

int width_of(std::int32_t c) {
  if (c < 0)
    return 1;
  if (is_mark(c) || c == k_zero_width_joiner || c == k_zero_width_non_joiner)
    return 0;
  return std::clamp(utf8proc_charwidth(c), 0, 2);
}

void append_cells(std::string_view text, std::size_t span, std::vector<Cell>& out) {
  bool first = true;
  while (!text.empty()) {
    std::int32_t c = -1;
    const std::size_t length = next(text, c);
    const int width = width_of(c);
    if (width == 0 && !first) {
      Cell& last = out.back();
      last.bytes = std::string_view(last.bytes.data(), last.bytes.size() + length);
      if (c == k_emoji_selector)
        last.width = 2;
    } else {
      out.push_back({text.substr(0, length), width, span});
      first = false;
    }
    text.remove_prefix(length);
  }
}

std::vector<Cell> cells_of(std::string_view text) {
  std::vector<Cell> out;
  append_cells(text, 0, out);
  return out;
}

void append(Inline& line, const Inline& text, const Cell& cell) {
  if (line.empty() || line.back().tone != text[cell.span].tone || line.back().code != text[cell.span].code)
    line.push_back({"", text[cell.span].tone, text[cell.span].code});
  line.back().text += cell.bytes == k_no_break_space ? std::string_view(" ") : cell.bytes;
}

Inline line_of(const Inline& text, const std::vector<Cell>& cells, std::size_t from, std::size_t to) {
  while (to > from && cells[to - 1].bytes == " ")
    --to;
  Inline line;
  for (std::size_t i = from; i < to; ++i)
    append(line, text, cells[i]);
  return line;
}

// Where the line that begins at `from` ends: the longest that fits, cut back to the last place where a line may end.
std::size_t line_end(const std::vector<Cell>& cells, std::size_t from, int columns) {
  int used = 0;
  std::size_t end = from;
  while (end < cells.size() && used + cells[end].width <= columns)
    used += cells[end++].width;
  if (end == cells.size())
    return end;
  for (std::size_t at = end; at > from; --at) {
    if (cells[at].bytes == " " || (cells[at].width == 2 && cells[at - 1].bytes != " ") || cells[at - 1].width == 2)
      return at;
  }
  return std::max(end, from + 1);
}

// Of clean text: '?' for what cannot be seen, and not too many marks on one character.
std::string visible(std::string_view text) {
  std::string out;
  int marks = 0;
  while (!text.empty()) {
    std::int32_t c = -1;
    const std::size_t length = next(text, c);
    const bool mark = c >= 0 && width_of(c) == 0 && is_shown(c);
    marks = mark ? marks + 1 : 0;
    if (c < 0 || !is_shown(c))
      out += '?';
    else if (marks <= k_max_marks)
      out.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}
} // namespace

std::string tidy(std::string_view text, std::size_t max_bytes) {
  return std::string(trim(visible(clean_line(text, max_bytes))));
}

std::vector<std::string> tidy_code(std::string_view text, std::size_t max_lines) {
  std::vector<std::string> out;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  for (const std::string& line : split(text, '\n')) {
    if (out.size() == max_lines) {
      out.push_back("...");
      return out;
    }
    out.push_back(visible(clean_line(line, 1000)));
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (const Cell& cell : cells_of(text))
    width += cell.width;
  return width;
}

int display_width(const Inline& text) {
  int width = 0;
  for (const Span& span : text)
    width += display_width(span.text);
  return width;
}

std::string shortened(std::string_view text, int columns) {
  if (display_width(text) <= columns)
    return std::string(text);
  std::string out;
  int used = 3;
  for (const Cell& cell : cells_of(text)) {
    used += cell.width;
    if (used > columns)
      break;
    out += cell.bytes;
  }
  return out + "...";
}

std::string shortened_front(std::string_view text, int columns) {
  if (display_width(text) <= columns)
    return std::string(text);
  const std::vector<Cell> cells = cells_of(text);
  std::size_t first = cells.size();
  int used = 3;
  while (first > 0 && used + cells[first - 1].width <= columns)
    used += cells[--first].width;
  std::string out = "...";
  for (; first < cells.size(); ++first)
    out += cells[first].bytes;
  return out;
}

std::vector<Inline> wrap(const Inline& text, int columns) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < text.size(); ++i)
    append_cells(text[i].text, i, cells);
  std::vector<Inline> lines;
  for (std::size_t from = 0;;) {
    while (from < cells.size() && cells[from].bytes == " ")
      ++from;
    if (from == cells.size())
      return lines;
    const std::size_t end = line_end(cells, from, std::max(columns, 2));
    lines.push_back(line_of(text, cells, from, end));
    from = end;
  }
}

std::vector<std::string> wrap_code(std::string_view line, int columns) {
  std::vector<std::string> out(1);
  int used = 0;
  for (const Cell& cell : cells_of(line)) {
    if (used + cell.width > std::max(columns, 2)) {
      out.emplace_back();
      used = 0;
    }
    out.back() += cell.bytes == k_no_break_space ? std::string_view(" ") : cell.bytes;
    used += cell.width;
  }
  return out;
}

std::vector<std::string> wrap_command(std::string_view command, int columns) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t last_space = std::string::npos; // in `line`, outside of quotes
  int used = 0;
  char quote = 0;
  for (const Cell& cell : cells_of(command)) {
    if (used + cell.width > columns - 2) {
      std::string rest;
      if (last_space != std::string::npos) {
        rest = line.substr(last_space + 1);
        line = line.substr(0, last_space) + " \\";
      }
      lines.push_back(std::move(line));
      line = rest;
      used = display_width(line);
      last_space = std::string::npos;
    }
    const char c = cell.bytes[0];
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (quote == c)
      quote = 0;
    if (quote == 0 && c == ' ' && !line.empty())
      last_space = line.size();
    line += cell.bytes;
    used += cell.width;
  }
  if (!line.empty() || lines.empty())
    lines.push_back(std::move(line));
  return lines;
}

} // namespace remotemac::report
