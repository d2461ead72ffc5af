// A document as Markdown. Foreign text can neither form markup nor leave its cell: what has a meaning is escaped,
// everywhere.
#include "cli/report/build.h"
#include "cli/report/display.h"
#include "cli/report/report.h"

#include <algorithm>
#include <cmath>

namespace remotemac::report {
namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A hyphen, a number with a point and the like begin a list or a heading only at the start of a line.
bool begins_block(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '-' || c == '+' || c == '=')
    return at == 0;
  if (c != '.' && c != ')')
    return false;
  const bool marks = at + 1 == text.size() || text[at + 1] == ' ';
  return at != 0 && marks &&
         std::ranges::all_of(text.substr(0, at), [](char digit) { return digit >= '0' && digit <= '9'; });
}

std::string escaped_word(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside_word = i != 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '|')
      out += "&#124;";
    else if (c == '.' && i >= 3 && (text.substr(i - 3, 3) == "www" || text.substr(i - 3, 3) == "WWW"))
      out += "&#46;";
    else if (c == ':' && text.substr(i, 3) == "://")
      out += "&#58;"; // no link that nobody wrote
    else if (std::string_view("\\`*[]{}#~$").find(c) != std::string_view::npos || (c == '_' && !inside_word) ||
             begins_block(text, i))
      (out += '\\') += c;
    else if (text.compare(i, 2, "\xC2\xA0") == 0) {
      out += ' ';
      ++i;
    } else
      out += c;
  }
  return out;
}

std::size_t longest_run(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// In a cell neither a bar nor a backslash is safe inside a code span: they decide where the cell ends.
std::string code_span(std::string_view text) {
  if (text.empty())
    return {};
  if (text.find_first_of("|\\") != std::string_view::npos)
    return escaped_word(text);
  const std::string fence(longest_run(text, '`') + 1, '`');
  const bool pad = text.front() == '`' || text.back() == '`';
  return fence + (pad ? " " : "") + std::string(text) + (pad ? " " : "") + fence;
}

// A word with an @ would become a mention or a mail address; nothing but a code span keeps it from that.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t from = 0, at = text.find('@'); from < text.size(); at = text.find('@', from)) {
    if (at == std::string_view::npos)
      return out + escaped_word(text.substr(from));
    const std::size_t space = text.substr(0, at).rfind(' ');
    const std::size_t first = space == std::string_view::npos || space < from ? from : space + 1;
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out += escaped_word(text.substr(from, first - from)) + code_span(text.substr(first, end - first));
    from = end;
  }
  return out;
}

// White space inside of the stars would leave them standing as stars.
std::string emphasised(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos)
    return std::string(text);
  const std::size_t last = text.find_last_not_of(' ') + 1;
  return std::string(text.substr(0, first)) + "**" + escaped(text.substr(first, last - first)) + "**" +
         std::string(text.substr(last));
}

std::string inline_text(const Inline& text) {
  std::string out;
  for (const Span& span : text) {
    if (span.code)
      out += code_span(span.text);
    else if (span.tone == Tone::strong || span.tone == Tone::bad)
      out += emphasised(span.text);
    else
      out += escaped(span.text);
  }
  return out;
}

class MarkdownWriter {
public:
  [[nodiscard]] std::string take() && {
    while (!m_out.empty() && m_out.back() == '\n')
      m_out.pop_back();
    return std::move(m_out);
  }

  void operator()(const Heading& heading) {
    separate();
    m_out += std::string(static_cast<std::size_t>(heading.level), '#') + " " + escaped(heading.text) + "\n";
  }

  void operator()(const Paragraph& paragraph) {
    separate();
    m_out += inline_text(paragraph.text) + "\n";
  }

  void operator()(const Notice& notice) {
    separate();
    m_out += "> " + emphasised(notice.title + ":") + " " + inline_text(notice.text) + "\n";
  }

  void operator()(const List& list) {
    separate();
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const std::string mark = list.numbered ? std::to_string(i + 1) + ". " : "- ";
      m_out += mark + inline_text(list.items[i].text) + "\n";
      for (const Inline& below : list.items[i].below)
        m_out += std::string(mark.size(), ' ') + "- " + inline_text(below) + "\n";
    }
  }

  void operator()(const Table& table) {
    separate();
    std::string rule;
    for (const Column& column : table.columns) {
      m_out += "| " + escaped(column.title) + " ";
      rule += column.right ? "| ---: " : "| --- ";
    }
    m_out += "|\n" + rule + "|\n";
    for (const std::vector<Inline>& row : table.rows) {
      for (const Inline& cell : row)
        m_out += "| " + (cell.size() == 1 && cell.front().text == "-" ? "-" : inline_text(cell)) + " ";
      m_out += "|\n";
    }
  }

  void operator()(const Bars& bars) {
    constexpr int k_length = 30;
    int label = 0;
    double full = bars.full;
    for (const Bar& bar : bars.bars) {
      label = std::max(label, std::min(60, display_width(bar.label)));
      full = std::max(full, bar.value);
    }
    Code code{"text", {}};
    for (const Bar& bar : bars.bars) {
      const double part = full > 0 && std::isfinite(bar.value / full) ? std::clamp(bar.value / full, 0.0, 1.0) : 0;
      const int filled = part > 0 ? std::max(1, static_cast<int>(std::lround(part * k_length))) : 0;
      const std::string name = shortened_front(bar.label, label);
      code.lines.push_back(name + std::string(static_cast<std::size_t>(label - display_width(name) + 2), ' ') +
                           std::string(static_cast<std::size_t>(filled), '#') +
                           std::string(static_cast<std::size_t>(k_length - filled), '.') + "  " + bar.caption);
    }
    (*this)(code);
  }

  void operator()(const Criteria& criteria) {
    separate();
    m_out += "| | status | criterion | evidence |\n| --- | --- | --- | --- |\n";
    for (const Criterion& entry : criteria.entries) {
      m_out += "| " + entry.id + " | " + inline_text({entry.status}) + " | " + escaped(entry.title) + " | ";
      for (std::size_t i = 0; i < entry.lines.size(); ++i)
        m_out += (i == 0 ? "" : "<br>") + inline_text(entry.lines[i]);
      m_out += " |\n";
    }
  }

  void operator()(const Code& code) {
    separate();
    std::size_t run = 2;
    for (const std::string& line : code.lines)
      run = std::max(run, longest_run(line, '`'));
    const std::string fence(run + 1, '`');
    m_out += fence + code.language + "\n";
    for (const std::string& line : code.lines) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        const bool no_break = line.compare(i, 2, "\xC2\xA0") == 0;
        m_out += no_break ? ' ' : line[i];
        i += no_break ? 1 : 0;
      }
      m_out += '\n';
    }
    m_out += fence + "\n";
  }

private:
  void separate() {
    if (!m_out.empty())
      m_out += '\n';
  }
  std::string m_out;
};
} // namespace

std::string to_markdown(const Evidence& evidence, const verdict::Verdict& verdict) {
  MarkdownWriter writer;
  for (const Block& block : build(evidence, verdict, Detail::file))
    std::visit(writer, block);
  return std::move(writer).take();
}

} // namespace remotemac::report
