// A document on a terminal: everything within the width, colour only where it was asked for.
#include "common/text.h"
#include "cli/report/build.h"
#include "cli/report/display.h"
#include "cli/report/report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace remotemac::report {
namespace {
constexpr int k_min_width = 60;
constexpr int k_max_width = 120;
constexpr int k_gap = 2; // between columns

const char* sequence(Tone tone) {
  switch (tone) {
  case Tone::strong:
    return "\x1b[1m";
  case Tone::good:
    return "\x1b[32m";
  case Tone::warning:
    return "\x1b[33m";
  case Tone::bad:
    return "\x1b[31m";
  case Tone::faint:
    return "\x1b[2m";
  case Tone::plain:
    break;
  }
  return "";
}

class TextWriter {
public:
  explicit TextWriter(const TextStyle& style)
      : m_width(std::clamp(style.width, k_min_width, k_max_width)), m_colour(style.colour) {}

  [[nodiscard]] std::string take() && {
    while (!m_out.empty() && m_out.back() == '\n')
      m_out.pop_back();
    return std::move(m_out);
  }

  void operator()(const Heading& heading) {
    blank();
    for (const Inline& line : wrap({{heading.text, Tone::strong}}, m_width))
      put("", line);
    if (heading.level == 2)
      m_out += std::string(static_cast<std::size_t>(std::min(m_width, display_width(heading.text))), '-') + "\n";
    m_indent = heading.level == 1 ? 0 : 2;
    m_fresh = true;
  }

  void operator()(const Paragraph& paragraph) {
    separate();
    put_wrapped(indent(), indent(), paragraph.text);
  }

  void operator()(const Notice& notice) {
    blank();
    Inline text = notice.text;
    text.insert(text.begin(), {notice.title + ": ", Tone::strong});
    put_wrapped("", "  ", text);
    m_fresh = false;
  }

  void operator()(const List& list) {
    separate();
    const std::size_t digits = std::to_string(list.items.size()).size();
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      std::string mark = list.numbered ? std::to_string(i + 1) + ". " : "- ";
      if (list.numbered)
        mark.insert(0, digits + 2 - mark.size(), ' ');
      const std::string under = indent() + std::string(mark.size(), ' ');
      put_wrapped(indent() + mark, under, list.items[i].text);
      for (const Inline& below : list.items[i].below)
        put_wrapped(under, under, below);
    }
  }

  void operator()(const Table& table) {
    separate();
    const std::vector<int> widths = column_widths(table);
    std::vector<Inline> titles;
    for (const Column& column : table.columns)
      titles.push_back({{column.title, Tone::faint}});
    put_row(table, widths, titles);
    for (const std::vector<Inline>& row : table.rows)
      put_row(table, widths, row);
  }

  void operator()(const Bars& bars) {
    separate();
    const int room = m_width - m_indent;
    int label = 0;
    int caption = 0;
    double full = bars.full;
    for (const Bar& bar : bars.bars) {
      label = std::max(label, display_width(bar.label));
      caption = std::max(caption, display_width(bar.caption));
      full = std::max(full, bar.value);
    }
    label = std::min(label, room / 2);
    const int length = std::clamp(room - label - caption - 2 * k_gap, 4, 40);
    for (const Bar& bar : bars.bars) {
      const double part = full > 0 && std::isfinite(bar.value / full) ? std::clamp(bar.value / full, 0.0, 1.0) : 0;
      const int filled = part > 0 ? std::max(1, static_cast<int>(std::lround(part * length))) : 0;
      const std::string name = shortened_front(bar.label, label);
      m_out += indent() + name + spaces(label - display_width(name) + k_gap);
      put_span({std::string(static_cast<std::size_t>(filled), '#'), Tone::strong});
      put_span({std::string(static_cast<std::size_t>(length - filled), '.'), Tone::faint});
      put_span({spaces(k_gap + caption - display_width(bar.caption)) + plain_spaces(bar.caption)});
      m_out += '\n';
    }
  }

  void operator()(const Criteria& criteria) {
    separate();
    int id = 0;
    int status = 0;
    for (const Criterion& entry : criteria.entries) {
      id = std::max(id, display_width(entry.id));
      status = std::max(status, display_width(entry.status.text));
    }
    const int column = m_indent + id + status + 2 * k_gap;
    for (const Criterion& entry : criteria.entries) {
      std::vector<Inline> lines = wrap({{entry.title, Tone::strong}}, m_width - column);
      m_out += indent() + entry.id + spaces(id - display_width(entry.id) + k_gap);
      put_span(entry.status);
      m_out += spaces(status - display_width(entry.status.text) + k_gap);
      for (std::size_t i = 0; i < lines.size(); ++i)
        put(i == 0 ? "" : spaces(column), lines[i]);
      for (const Inline& line : entry.lines)
        put_wrapped(spaces(column), spaces(column + k_gap), line);
    }
  }

  void operator()(const Code& code) {
    separate();
    const std::string before = indent() + "  ";
    const int room = m_width - static_cast<int>(before.size());
    for (const std::string& line : code.lines) {
      for (const std::string& part : code.language == "sh" ? wrap_command(line, room) : wrap_code(line, room))
        m_out += before + part + "\n";
    }
  }

private:
  static std::string spaces(int number) { return std::string(static_cast<std::size_t>(std::max(0, number)), ' '); }
  [[nodiscard]] std::string indent() const { return spaces(m_indent); }

  static std::string plain_spaces(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool no_break = text.compare(i, 2, "\xC2\xA0") == 0;
      out += no_break ? ' ' : text[i];
      i += no_break ? 1 : 0;
    }
    return out;
  }

  void blank() {
    if (!m_out.empty())
      m_out += '\n';
  }

  // One empty line between blocks, none under a heading.
  void separate() {
    if (!m_fresh)
      blank();
    m_fresh = false;
  }

  void put_span(const Span& span) {
    const bool painted = m_colour && span.tone != Tone::plain && !span.text.empty();
    m_out += painted ? sequence(span.tone) + span.text + "\x1b[0m" : span.text;
  }

  void put(const std::string& before, const Inline& line) {
    m_out += before;
    for (const Span& span : line)
      put_span(span);
    m_out += '\n';
  }

  void put_wrapped(const std::string& first, const std::string& later, const Inline& text) {
    const std::vector<Inline> lines = wrap(text, m_width - static_cast<int>(std::max(first.size(), later.size())));
    for (std::size_t i = 0; i < lines.size(); ++i)
      put(i == 0 ? first : later, lines[i]);
  }

  // Natural widths; while that is too much, the widest column gives way.
  [[nodiscard]] std::vector<int> column_widths(const Table& table) const {
    std::vector<int> widths;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      int width = display_width(table.columns[column].title);
      for (const std::vector<Inline>& row : table.rows)
        width = std::max(width, display_width(row[column]));
      widths.push_back(std::max(width, 1));
    }
    const int room = m_width - m_indent - k_gap * (static_cast<int>(widths.size()) - 1);
    for (int total = std::accumulate(widths.begin(), widths.end(), 0); total > room; --total) {
      int& widest = *std::ranges::max_element(widths);
      if (widest <= 2)
        break;
      --widest;
    }
    return widths;
  }

  void put_row(const Table& table, const std::vector<int>& widths, const std::vector<Inline>& row) {
    std::vector<std::vector<Inline>> cells;
    std::size_t height = 0;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      cells.push_back(wrap(row[column], widths[column]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      m_out += indent();
      int owed = 0; // spaces not written yet: none at the end of a line
      for (std::size_t column = 0; column < widths.size(); ++column) {
        const Inline none;
        const Inline& text = line < cells[column].size() ? cells[column][line] : none;
        const int rest = widths[column] - display_width(text);
        owed += table.columns[column].right ? rest : 0;
        if (!text.empty()) {
          m_out += spaces(owed);
          owed = 0;
          for (const Span& span : text)
            put_span(span);
        }
        owed += (table.columns[column].right ? (text.empty() ? widths[column] - rest : 0)
                 : text.empty()              ? widths[column]
                                             : rest) +
                k_gap;
      }
      m_out += '\n';
    }
  }

  int m_width;
  bool m_colour;
  int m_indent = 0;
  bool m_fresh = false; // directly under a heading
  std::string m_out;
};
} // namespace

std::string to_text(const Evidence& evidence, const verdict::Verdict& verdict, const TextStyle& style) {
  TextWriter writer(style);
  for (const Block& block : build(evidence, verdict, Detail::screen))
    std::visit(writer, block);
  return std::move(writer).take();
}

} // namespace remotemac::report
