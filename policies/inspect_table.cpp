#include "policies/column_test.h"
#include "policies/inspectors.h"

#include "common/digest.h"
#include "common/text.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace remotemac::policies {
namespace {
using Row = std::vector<std::string>;

// RFC 4180 with any one-character separator. Calls `on_row` for each row; "" or why it stopped.
std::string read_rows(std::string_view text, char separator, const std::function<void(const Row&)>& on_row) {
  Row row;
  std::string cell;
  std::size_t line = 1;
  std::size_t quote_line = 0;
  bool quoted = false;
  bool was_quoted = false;
  const auto end_cell = [&] {
    row.push_back(std::move(cell));
    cell.clear();
    was_quoted = false;
  };
  const auto end_row = [&] {
    end_cell();
    if (row.size() > 1 || !row.front().empty())
      on_row(row);
    row.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    line += c == '\n' ? 1 : 0;
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && cell.empty() && !was_quoted) {
      quoted = was_quoted = true;
      quote_line = line;
    } else if (c == separator) {
      end_cell();
    } else if (c == '\n' || c == '\r') {
      if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n')
        continue;
      end_row();
    } else {
      cell += c;
    }
  }
  if (quoted)
    return "a quoted cell that begins in line " + std::to_string(quote_line) + " does not end";
  if (!cell.empty() || !row.empty())
    end_row();
  return {};
}

char guess_separator(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t', '|'}) {
    const auto count = std::count(first.begin(), first.end(), candidate);
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

// Groups rows by the declared quasi-identifiers.
class GroupCount {
public:
  GroupCount(const Row& header, const std::vector<std::string>& quasi_identifiers) {
    for (const std::string& name : quasi_identifiers) {
      const std::size_t before = m_columns.size();
      for (std::size_t i = 0; i < header.size(); ++i) {
        if (trim(header[i]) == name) // all that bear the name: a second one could hold what the first does not
          m_columns.push_back(i);
      }
      if (m_columns.size() == before)
        m_facts.missing_columns.push_back(name);
    }
  }
  void add(const Row& row) {
    ++m_facts.rows;
    std::string key;
    for (const std::size_t column : m_columns) {
      const std::string value = column < row.size() ? std::string(trim(row[column])) : std::string();
      key += std::to_string(value.size()) + ":" + value;
    }
    ++m_groups[key];
  }
  [[nodiscard]] TableFacts facts() {
    m_facts.smallest_group = m_groups.empty() ? 0 : m_facts.rows;
    for (const auto& [key, count] : m_groups) {
      m_facts.smallest_group = std::min(m_facts.smallest_group, count);
      m_facts.unique_rows += count == 1 ? 1 : 0;
    }
    return m_facts;
  }

private:
  TableFacts m_facts;
  std::vector<std::size_t> m_columns;
  std::unordered_map<std::string, std::uint64_t> m_groups;
};

// A file that reads in several ways is as safe as its worst reading.
void keep_worst(std::optional<TableFacts>& kept, TableFacts facts) {
  if (!kept) {
    kept = std::move(facts);
    return;
  }
  if (kept->rows == 0 || (facts.rows > 0 && facts.smallest_group < kept->smallest_group))
    kept->smallest_group = facts.smallest_group;
  kept->rows = std::max(kept->rows, facts.rows);
  kept->unique_rows = std::max(kept->unique_rows, facts.unique_rows);
  kept->missing_columns.insert(kept->missing_columns.end(), facts.missing_columns.begin(), facts.missing_columns.end());
}

void inspect_reading(std::string_view text, char separator, const std::vector<std::string>& quasi_identifiers, Inspection& inspection) {
  std::vector<ColumnTest> columns;
  Row header;
  std::optional<GroupCount> groups;
  bool ragged = false;
  const std::string broken = read_rows(text, separator == '\0' ? guess_separator(text) : separator, [&](const Row& row) {
    const bool first = header.empty();
    if (first) {
      header = row;
      for (const std::string& name : row)
        columns.emplace_back(normalize_for_scan(name));
      if (!quasi_identifiers.empty())
        groups.emplace(header, quasi_identifiers);
    } else if (groups) {
      ragged = ragged || row.size() != header.size();
      groups->add(row);
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == columns.size())
        columns.emplace_back("");
      // The first row may be data: then its cells count too. A name without a digit must not weigh against the numbers below it.
      if (const std::string cell = normalize_for_scan(row[i]); !first || cell.find_first_of("0123456789") != std::string::npos)
        columns[i].add(cell);
    }
  });
  if (!broken.empty())
    return refuse(inspection, "builtin.unreadable", "the table cannot be read: " + broken);
  for (std::size_t i = 0; i < columns.size(); ++i)
    merge(inspection.findings, columns[i].findings("column " + std::to_string(i + 1)));
  if (!groups)
    return;
  if (ragged)
    return refuse(inspection, "builtin.unreadable", "the table's rows have different numbers of cells, so its groups cannot be counted");
  keep_worst(inspection.table, groups->facts());
}
} // namespace

void inspect_table(const std::vector<DecodedText>& readings, char separator, const std::vector<std::string>& quasi_identifiers, Inspection& inspection) {
  inspection.kind = "table";
  for (const DecodedText& reading : readings) {
    scan_text(reading.utf8, TextShape::table, inspection);
    inspect_reading(reading.utf8, separator, quasi_identifiers, inspection);
  }
}

} // namespace remotemac::policies
