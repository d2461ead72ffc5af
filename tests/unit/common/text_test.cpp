#include "common/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace remotemac {
namespace {

TEST(Utf8, FollowsUnicodeTable3_7) {
  for (const char* good : {"", "a", "\u007f", "\u0080", "\u07ff", "\u0800", "\xed\x9f\xbf", "\ue000", "\uffff", "\U00010000", "\U0010ffff"})
    EXPECT_TRUE(is_valid_utf8(good));
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc2", "\xe2\x82", "\xf0\x9f\x98", "a\xc2z"})
    EXPECT_FALSE(is_valid_utf8(bad));
}

TEST(CleanLine, RemovesWhatATerminalWouldObey) {
  EXPECT_EQ(clean_line("plain \u00e9\u4e16\U0001f600"), "plain \u00e9\u4e16\U0001f600");
  EXPECT_EQ(clean_line("a\x1b[31mb\x07"), "a?[31mb?");
  EXPECT_EQ(clean_line("a\nb\tc"), "a b c");
  EXPECT_EQ(clean_line("a\rb"), "a?b");
  EXPECT_EQ(clean_line(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(clean_line("a\u009b31m"), "a?31m"); // CSI as one C1 character
  EXPECT_EQ(clean_line("a\x9b"), "a?");
  EXPECT_EQ(clean_line("a\u202eb\u2066c\u200fd\u2028e\ufefff"), "a?b?c?d?e?f");
}

TEST(CleanLine, CutsLongTextAtWholeCharacters) {
  EXPECT_EQ(clean_line("abcdef", 3), "abc...");
  EXPECT_EQ(clean_line("abc", 3), "abc");
  EXPECT_TRUE(is_valid_utf8(clean_line("\u4e16\u4e16\u4e16", 4)));
}

TEST(CleanLine, AnyBytesComeOutAsCleanUtf8) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text)
      c = static_cast<char>(random());
    const std::string once = clean_line(text);
    ASSERT_TRUE(is_valid_utf8(once));
    ASSERT_EQ(clean_line(once), once);
    for (const char c : clean_text(text))
      ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

TEST(CleanText, KeepsLinesAndTabs) { EXPECT_EQ(clean_text("a\n\tb\r\n\x1b"), "a\n\tb?\n?"); }

TEST(HumanBytes, RoundsToWhatPeopleRead) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(1'500'000), "1.5 MB");
  EXPECT_EQ(human_bytes(99'949'999), "99.9 MB");
  EXPECT_EQ(human_bytes(123'400'000), "123 MB");
  EXPECT_EQ(human_bytes(999'600'000), "1.0 GB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18447 PB");
}

TEST(HumanSeconds, ChangesUnitWithSize) {
  EXPECT_EQ(human_seconds(0.42), "0.42 s");
  EXPECT_EQ(human_seconds(9.999), "10 s");
  EXPECT_EQ(human_seconds(59.4), "59 s");
  EXPECT_EQ(human_seconds(185), "3 min 05 s");
  EXPECT_EQ(human_seconds(7200), "2 h 00 min");
  EXPECT_EQ(human_seconds(-1), "?");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), "?");
}

TEST(Rfc3339, IsUtcWithMilliseconds) {
  using namespace std::chrono;
  EXPECT_EQ(rfc3339(system_clock::time_point(milliseconds(0))), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(system_clock::time_point(milliseconds(1'709'210'096'007))), "2024-02-29T12:34:56.007Z");
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  const std::vector<std::string> known{"report", "run", "reference", "cancel"};
  EXPECT_EQ(nearest("reprot", known), "report");
  EXPECT_EQ(nearest("runn", known), "run");
  EXPECT_EQ(nearest("zzzzzzzz", known), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(SplitAndJoin, GoBothWays) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join(split("a,,b,", ','), ","), "a,,b,");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Trim, TakesWhiteSpaceFromBothEnds) {
  EXPECT_EQ(trim(" \t\r\n a b \v\f"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(LowerAndHex, AreAscii) {
  EXPECT_EQ(to_lower_ascii("AbZ\u00c9[`"), "abz\u00c9[`");
  EXPECT_EQ(to_hex(std::vector<std::uint8_t>{0, 0x0f, 0xa5, 0xff}), "000fa5ff");
}

TEST(ShellQuote, LeavesNothingToTheShell) {
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("$(x) `y` \\ \"z\" !"), "'$(x) `y` \\ \"z\" !'");
}

} // namespace
} // namespace remotemac
