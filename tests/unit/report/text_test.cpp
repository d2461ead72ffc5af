#include "cli/report/report.h"
#include "report_case.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remotemac::report {
namespace {
using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const Case& shown, int width = 100) {
  return to_text(shown.evidence, shown.verdict, {width, false});
}

TEST(TextReport, BeginsWithTheVerdictAndOneSentenceWhy) {
  const std::vector<std::string> lines = lines_of(text_of(digits_case()));
  const std::size_t verdict = line_with(lines, "Verdict: development-and-test");
  ASSERT_LE(verdict, 4u);
  const std::string next = lines.at(verdict + 1).empty() ? lines.at(verdict + 2) : lines.at(verdict + 1);
  EXPECT_FALSE(next.empty());
  EXPECT_LE(line_with(lines, "Simulated backend: "), 10u) << "said at the top";
}

TEST(TextReport, SectionsComeInTheOrderOfTheReadersQuestions) {
  const std::vector<std::string> lines = lines_of(text_of(float64_case()));
  std::size_t last = 0;
  for (const char* section : {"Why", "What stands in the way", "What to do next", "What was measured",
                              "What left the workstation", "What was not shown"}) {
    std::size_t at = lines.size();
    for (std::size_t i = 0; i < lines.size(); ++i)
      at = lines[i] == section ? i : at;
    ASSERT_LT(at, lines.size()) << section;
    EXPECT_GT(at, last) << section;
    last = at;
  }
}

TEST(TextReport, EveryCriterionStandsWithItsEvidence) {
  const Case shown = suitable_case();
  const std::string text = text_of(shown, 120);
  for (const verdict::Criterion& criterion : shown.verdict.criteria) {
    const std::vector<std::string> lines = lines_of(text);
    const std::size_t at = line_with(lines, "  " + std::string(criterion.id) + " ");
    ASSERT_LT(at, lines.size()) << criterion.id;
    EXPECT_THAT(lines[at], HasSubstr(std::string(verdict::name_of(criterion.status))));
    EXPECT_TRUE(lines.at(at + 1).starts_with("      ")) << criterion.id << " has no evidence below";
  }
  EXPECT_THAT(
      text, AllOf(HasSubstr("Verdict: suitable"), HasSubstr("criteria are met"), Not(HasSubstr("Simulated backend"))));
}

TEST(TextReport, CudaRequiredSaysOnWhichGroundAndWhere) {
  const std::string text = text_of(float64_case(), 120);
  EXPECT_THAT(text, AllOf(HasSubstr("Verdict: cuda-required (shown not to work)"), HasSubstr("train.py:12"),
                          HasSubstr("Not made: no mini-run on the host left outputs")));
}

TEST(TextReport, ABrokenRunNamesNoClass) {
  const std::string text = text_of(broken_off_case(), 120);
  EXPECT_THAT(text, AllOf(HasSubstr("No verdict: the run broke off at sync (connection)"),
                          HasSubstr("the host closed the connection after 3 tries"),
                          HasSubstr("remotemac doctor --host mini1"), HasSubstr("no job was submitted")));
  EXPECT_THAT(
      text, AllOf(Not(HasSubstr("suitable")), Not(HasSubstr("cuda-required")), Not(HasSubstr("development-and-test"))));
}

TEST(TextReport, MeasurementsOfBothSides) {
  const std::string text = text_of(digits_case(), 120);
  EXPECT_THAT(text, AllOf(HasSubstr("CUDA 12.8"), HasSubstr("numpy 2.4.0 / 2.3.0"), HasSubstr("aten::mm (mps)"),
                          HasSubstr("80.0 ms"), HasSubstr("50.0 ms"), HasSubstr("1.6 times")));
  EXPECT_THAT(text, AllOf(HasSubstr("40.0 MB"), HasSubstr("35.0 MB"), HasSubstr("say nothing about a Mac")));
}

TEST(TextReport, FailuresOfTheBatteryAreNamedAndCanBeReproduced) {
  const std::string text = text_of(digits_case(), 120);
  EXPECT_THAT(text, AllOf(HasSubstr("aten::addmm fail, case transposed"), HasSubstr("3 of 16 elements"),
                          HasSubstr("\n    for i in range(2):\n        print(i)\n")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("order: crash, signal 11"), HasSubstr("order.copy"), HasSubstr("aten::special_erfcx")));
}

TEST(TextReport, ConditionsStandBeforeOutputs) {
  const std::string text = text_of(digits_case(), 120);
  const std::size_t conditions = text.rfind("Conditions: unlike");
  const std::size_t outputs = text.rfind("Outputs were not compared: the conditions are not alike: tf32");
  ASSERT_NE(conditions, std::string::npos);
  ASSERT_NE(outputs, std::string::npos);
  EXPECT_LT(conditions, outputs);
}

TEST(TextReport, SaysWhatLeft) {
  const std::string text = text_of(suitable_case(), 120);
  EXPECT_THAT(text, AllOf(HasSubstr("allowed the transfer: 4 files"), HasSubstr("synthetic"), HasSubstr("checkpoints"),
                          HasSubstr("sha256:0011223344556677"), HasSubstr("was on disk before the first byte left"),
                          HasSubstr("1 day, until 2026-12-02")));
}

TEST(TextReport, StepTimesAreBarsInProportion) {
  const std::vector<std::string> lines = lines_of(text_of(suitable_case()));
  const std::size_t at = line_with(lines, "Median time per step");
  ASSERT_LT(at + 3, lines.size());
  const auto filled = [](const std::string& line) { return std::ranges::count(line, '#'); };
  const auto mine = filled(lines[at + 2]);
  const auto theirs = filled(lines[at + 3]);
  EXPECT_EQ(mine, 40) << lines[at + 2];
  EXPECT_EQ(theirs, 25) << lines[at + 3];
}

TEST(TextReport, ColourOnlyWhereAskedForAndOfTheSameText) {
  const Case shown = digits_case();
  const std::string plain = to_text(shown.evidence, shown.verdict, {80, false});
  std::string painted = to_text(shown.evidence, shown.verdict, {80, true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(painted.find("\x1b[33mdevelopment-and-test\x1b[0m"), std::string::npos);
  for (std::size_t at = painted.find('\x1b'); at != std::string::npos; at = painted.find('\x1b'))
    painted.erase(at, painted.find('m', at) - at + 1);
  EXPECT_EQ(painted, plain);
}

class TextWidth : public ::testing::TestWithParam<int> {};

TEST_P(TextWidth, IsNeverExceeded) {
  const std::string cjk = "\xE6\x89\x8B\xE6\x9B\xB8\xE3\x81\x8D\xE6\x95\xB0\xE5\xAD\x97";
  for (const Case& shown :
       {suitable_case(), digits_case(), float64_case(), broken_off_case(), hostile_case(cjk),
        hostile_case(std::string(3000, 'w')),
        hostile_case(cjk + " \xF0\x9F\x98\x80 na\xC3\xAFve e\xCC\x81 " + cjk + cjk + cjk + cjk + cjk + cjk)}) {
    for (const std::string& line : lines_of(text_of(shown, GetParam()))) {
      EXPECT_LE(columns_of(line), GetParam()) << line;
      EXPECT_GE(columns_of(line), 0) << line;
      EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, TextWidth, ::testing::Values(60, 61, 80, 100, 120));

TEST(TextReport, WidthIsTakenIntoItsLimits) {
  const Case shown = digits_case();
  EXPECT_EQ(text_of(shown, 1), text_of(shown, 60));
  EXPECT_EQ(text_of(shown, 100000), text_of(shown, 120));
}

TEST(TextReport, NamesOfAnyScriptStayWhole) {
  Case shown = suitable_case();
  shown.evidence.project.name = "\xE6\x89\x8B\xE6\x9B\xB8\xE3\x81\x8D";
  EXPECT_THAT(text_of(shown), HasSubstr("Report: \xE6\x89\x8B\xE6\x9B\xB8\xE3\x81\x8D\n"));
}

TEST(TextReport, AnEmptyEvidenceIsShownToo) {
  const Evidence nothing;
  const verdict::Verdict verdict = verdict::judge(nothing);
  EXPECT_THAT(to_text(nothing, verdict, {}), HasSubstr("Verdict: cuda-required (not sufficiently shown)"));
}
} // namespace
} // namespace remotemac::report
