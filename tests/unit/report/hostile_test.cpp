#include "cli/report/report.h"
#include "common/text.h"
#include "report_case.h"

#include <gtest/gtest.h>
#include <random>

namespace remotemac::report {
namespace {
using namespace testing;

void expect_harmless(const std::string& text, std::string_view what) {
  EXPECT_TRUE(is_valid_utf8(text)) << what;
  for (const std::string& line : lines_of(text)) {
    EXPECT_EQ(clean_line(line, line.size() + 16), line) << what;
    EXPECT_GE(columns_of(line), 0) << what << ": " << line;
  }
}

void expect_harmless(const Case& shown) {
  expect_harmless(to_text(shown.evidence, shown.verdict, {80, false}), "text");
  expect_harmless(to_markdown(shown.evidence, shown.verdict), "markdown");
}

TEST(HostileTexts, LeaveNoControlCharacter) {
  for (const std::string& text : {std::string("\x1b]0;title\x07"), std::string("a\rb\x08\x08"),
                                  std::string("\xC2\x9B"
                                              "31m"),
                                  std::string("\xE2\x80\xAE"
                                              "drowssap\xE2\x80\xAC"),
                                  std::string("\xE2\x81\xA6"
                                              "x"),
                                  std::string("nul\0byte", 8), std::string("\xFF\xC0\x80"), std::string("line\nline\n"),
                                  std::string("\xEF\xBB\xBF"
                                              "bom"),
                                  std::string("tab\tbed")})
    expect_harmless(hostile_case(text));
}

TEST(HostileTexts, OfRandomBytes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    std::string text;
    for (std::size_t i = random() % 200; i > 0; --i)
      text += static_cast<char>(random() % 256);
    expect_harmless(hostile_case(text));
  }
}

TEST(HostileTexts, VeryLongOnesDoNotMakeALongReport) {
  const Case shown = hostile_case(std::string(1'000'000, 'x'));
  EXPECT_LT(to_text(shown.evidence, shown.verdict, {80, false}).size(), 100'000u);
  EXPECT_LT(to_markdown(shown.evidence, shown.verdict).size(), 100'000u);
}

TEST(HostileTexts, ManyOfThemAreCutAndSaidToBeCut) {
  Case shown = digits_case();
  for (int i = 0; i < 5000; ++i) {
    shown.evidence.battery->findings.push_back({"id", "layout", "aten::x" + std::to_string(i), "case",
                                                FindingStatus::fail, "detail", "print(1)", std::nullopt});
    shown.evidence.replay->replay.push_back({9, "aten::y", 1, ReplayStatus::mismatch, "", 0.1, std::nullopt});
    shown.evidence.permissive->fallbacks.push_back({"aten::z", 1, 0.1, 0.001, ""});
    shown.verdict.obstacles.push_back({"what", "a.py:1", "hours", "other"});
  }
  const std::string text = to_text(shown.evidence, shown.verdict, {80, false});
  EXPECT_LT(lines_of(text).size(), 700u);
  for (const char* what : {"failures", "signatures", "fallbacks", "obstacles"})
    EXPECT_NE(text.find(std::string(" more ") + what + ": see the JSON report."), std::string::npos) << what;
}

TEST(HostileNumbers, AreShownAsUnknown) {
  Case shown = suitable_case();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (auto* run : {&shown.evidence.strict, &shown.evidence.permissive, &shown.evidence.reference->run}) {
    (*run)->timing = {nan, ~std::uint64_t{0}, inf, -1.0, 1e300, "optimizer"};
    (*run)->operations.push_back({"aten::a", "mps", ~std::uint64_t{0}, inf, OperationKind::native});
    (*run)->operations.push_back({"aten::b", "mps", 1, 1e300, OperationKind::native});
    (*run)->memory.slope_bytes_per_step = nan;
    (*run)->memory.peak_device_bytes = ~std::uint64_t{0};
    (*run)->fallbacks = {{"aten::c", 1, nan, nan, ""}};
  }
  expect_harmless(shown);
}
} // namespace
} // namespace remotemac::report
