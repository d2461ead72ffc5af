#include "cli/report/report.h"
#include "report_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remotemac::report {
namespace {
using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string markdown_of(const Case& shown) {
  return to_markdown(shown.evidence, shown.verdict);
}

std::size_t run_of_ticks(const std::string& line, std::size_t at) {
  std::size_t length = 0;
  while (at + length < line.size() && line[at + length] == '`')
    ++length;
  return length;
}

// What is neither escaped nor in a code span. Fails when a span does not end.
std::string outside_of_code(const std::string& line) {
  std::string rest;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\\') {
      i += 2;
    } else if (const std::size_t ticks = run_of_ticks(line, i); ticks == 0) {
      rest += line[i++];
    } else {
      i += ticks;
      std::size_t run = 0;
      while (i < line.size() && (run = run_of_ticks(line, i)) != ticks)
        i += std::max<std::size_t>(run, 1);
      EXPECT_EQ(run, ticks) << "a code span does not end: " << line;
      i += ticks;
    }
  }
  return rest;
}

std::vector<std::string> lines_outside_of_fences(const std::string& markdown) {
  std::vector<std::string> out;
  std::string fence;
  for (const std::string& line : lines_of(markdown)) {
    if (!fence.empty())
      fence = line == fence ? "" : fence;
    else if (line.starts_with("```"))
      fence = line.substr(0, run_of_ticks(line, 0));
    else
      out.push_back(line);
  }
  EXPECT_EQ(fence, "");
  return out;
}

// Bars that end a cell: as GitHub counts them, a backslash takes the next character along.
int cells_of(const std::string& row) {
  int bars = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\')
      ++i;
    else if (row[i] == '|')
      ++bars;
  }
  return bars - 1;
}

// Every table has as many cells in each row as in its rule; fences are closed; headings go down one level at a time.
void expect_well_formed(const std::string& markdown) {
  int columns = 0;
  std::size_t level = 0;
  for (const std::string& line : lines_outside_of_fences(markdown)) {
    if (!line.starts_with("|"))
      columns = 0;
    else if (columns == 0)
      columns = cells_of(line);
    else
      EXPECT_EQ(cells_of(line), columns) << line;
    if (line.starts_with("#")) {
      const std::size_t depth = line.find_first_not_of('#');
      EXPECT_LE(depth, level + 1) << line;
      level = depth;
    }
  }
}

TEST(MarkdownReport, IsWellFormed) {
  for (const Case& shown : {suitable_case(), digits_case(), float64_case(), broken_off_case()})
    expect_well_formed(markdown_of(shown));
}

TEST(MarkdownReport, SaysTheVerdictFirst) {
  const std::string markdown = markdown_of(digits_case());
  EXPECT_TRUE(markdown.starts_with("# Report: digits\n"));
  EXPECT_LT(markdown.find("> **Verdict:** development-and-test"), markdown.find("\n## "));
  EXPECT_LT(markdown.find("> **Simulated backend:**"), markdown.find("\n## "));
  EXPECT_THAT(markdown_of(float64_case()),
              AllOf(HasSubstr("> **Verdict:** **cuda-required** (shown not to work)"), HasSubstr("`train.py:12`")));
}

TEST(MarkdownReport, CriteriaAreATableOfTwelve) {
  const std::vector<std::string> lines = lines_of(markdown_of(suitable_case()));
  const std::size_t head = line_with(lines, "| | status | criterion | evidence |");
  ASSERT_LT(head + 13, lines.size());
  EXPECT_TRUE(lines[head + 2].starts_with("| C1 | pass |")) << lines[head + 2];
  EXPECT_TRUE(lines[head + 13].starts_with("| C12 | ")) << lines[head + 13];
}

TEST(MarkdownReport, ABrokenRunNamesNoClass) {
  EXPECT_THAT(markdown_of(broken_off_case()),
              AllOf(HasSubstr("> **No verdict:** **the run broke off at** **sync** (connection)"),
                    HasSubstr("`remotemac doctor --host mini1`"), Not(HasSubstr("suitable")),
                    Not(HasSubstr("cuda-required"))));
}

TEST(MarkdownReport, ReproduceLinesKeepTheirIndentation) {
  EXPECT_THAT(markdown_of(digits_case()),
              HasSubstr("```python\nimport torch\nfor i in range(2):\n    print(i)\n```\n"));
}

class Injection : public ::testing::TestWithParam<const char*> {};

TEST_P(Injection, StaysText) {
  const std::string markdown = markdown_of(hostile_case(GetParam()));
  expect_well_formed(markdown);
  for (const std::string& line : lines_outside_of_fences(markdown)) {
    const std::string rest = outside_of_code(line);
    EXPECT_THAT(rest, AllOf(Not(HasSubstr("](")), Not(HasSubstr("://")), Not(HasSubstr("www.")),
                            Not(HasSubstr("@team")), Not(HasSubstr("$x$"))))
        << line;
    for (std::size_t at = rest.find('<'); at != std::string::npos; at = rest.find('<', at + 1))
      EXPECT_EQ(rest.substr(at, 4), "<br>") << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Attacks, Injection,
                         ::testing::Values("a|b|c", "[click](http://example.org)", "<img src=x onerror=y>",
                                           "`tick` ``two`` |x", "``", "a\\|b\\", "\n\n# heading\n\n| x |",
                                           "<!-- hidden", "**bold** _it_ ~~no~~", "- item", "1. item", "![x](y)",
                                           "www.example.org @team $x$ &lt;b&gt;", "> quote", "```\nfence\n```", "\\",
                                           "|", "<script>alert(1)</script>", "---", "a`", "`a"));

TEST(MarkdownReport, AWordWithAnAtIsNoMentionAndNoAddress) {
  Case shown = suitable_case();
  shown.evidence.project.name = "by @team and a_b@example.org, too";
  EXPECT_TRUE(markdown_of(shown).starts_with("# Report: by `@team` and `a_b@example.org,` too\n"))
      << markdown_of(shown).substr(0, 80);
}

TEST(MarkdownReport, EscapesOnlyWhatHasAMeaning) {
  Case shown = suitable_case();
  shown.evidence.project.name = "my_project 2.0 - a*b <c> [d]";
  EXPECT_TRUE(markdown_of(shown).starts_with("# Report: my_project 2.0 - a\\*b &lt;c&gt; \\[d\\]\n"))
      << markdown_of(shown).substr(0, 80);
}
} // namespace
} // namespace remotemac::report
