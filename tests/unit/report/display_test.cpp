#include "cli/report/display.h"
#include "report_case.h"

#include <gtest/gtest.h>
#include <random>

namespace remotemac::report {
namespace {
using testing::columns_of;

std::string plain(const Inline& line) {
  std::string out;
  for (const Span& span : line)
    out += span.text;
  return out;
}

std::vector<std::string> wrapped(const std::string& text, int columns) {
  std::vector<std::string> out;
  for (const Inline& line : wrap({{text}}, columns))
    out.push_back(plain(line));
  return out;
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("\xC3\xA9"), 1);                 // e acute
  EXPECT_EQ(display_width("e\xCC\x81"), 1);                // e and a combining acute
  EXPECT_EQ(display_width("\xE6\x97\xA5\xE6\x9C\xAC"), 4); // two CJK characters
  EXPECT_EQ(display_width(""), 0);
}

TEST(Wrap, BreaksAtSpacesAndKeepsEveryWord) {
  EXPECT_EQ(wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("one two", 7), (std::vector<std::string>{"one two"}));
  EXPECT_EQ(wrapped("", 10), std::vector<std::string>{});
}

TEST(Wrap, BreaksAWordOnlyWhenItFitsNoLine) {
  EXPECT_EQ(wrapped("ab abcdefghij", 5), (std::vector<std::string>{"ab", "abcde", "fghij"}));
}

TEST(Wrap, BreaksBetweenWideCharacters) {
  EXPECT_EQ(wrapped("\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", 5),
            (std::vector<std::string>{"\xE6\x97\xA5\xE6\x9C\xAC", "\xE8\xAA\x9E"}));
}

TEST(Wrap, NumbersAndUnitsStayTogether) {
  EXPECT_EQ(wrapped("it has " + number(20000) + " files", 10), (std::vector<std::string>{"it has", "20 000", "files"}));
}

TEST(Wrap, KeepsWhatIsCodeAcrossLines) {
  const std::vector<Inline> lines = wrap({{"see "}, {"remotemac run", Tone::plain, true}}, 10);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FALSE(lines[0].front().code);
  EXPECT_TRUE(lines[1].front().code && lines[2].front().code);
}

TEST(Wrap, NeverWiderAndNothingLostForRandomText) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> pieces{
      "a", "bc", " ", "  ", "\xE6\x97\xA5", "e\xCC\x81", "\xC2\xA0", "/", "\xF0\x9F\x98\x80", "word"};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = random() % 60; i > 0; --i)
      text += pieces[random() % pieces.size()];
    const int columns = 2 + static_cast<int>(random() % 30);
    std::string joined;
    for (const std::string& line : wrapped(text, columns)) {
      EXPECT_LE(columns_of(line), columns) << text;
      joined += line;
    }
    const auto without_spaces = [](std::string value) {
      for (const std::string_view space : {std::string_view("\xC2\xA0"), std::string_view(" ")}) {
        for (std::size_t at = value.find(space); at != std::string::npos; at = value.find(space))
          value.erase(at, space.size());
      }
      return value;
    };
    EXPECT_EQ(without_spaces(joined), without_spaces(text));
  }
}

TEST(WrapCommand, CanBeCopied) {
  EXPECT_EQ(wrap_command("run --a 1 --b 2", 12), (std::vector<std::string>{"run --a 1 \\", "--b 2"}));
  EXPECT_EQ(wrap_command("run 'a b c d e'", 60), (std::vector<std::string>{"run 'a b c d e'"}));
}

TEST(Tidy, HidesWhatCannotBeSeen) {
  EXPECT_EQ(tidy("a\x1b[31mb\n c"), "a?[31mb  c");
  EXPECT_EQ(tidy("a\xE2\x80\xAE"
                 "b"),
            "a?b"); // right-to-left override
  EXPECT_EQ(tidy("a\xE2\x80\x8B"
                 "b"),
            "a?b"); // zero-width space
  EXPECT_EQ(tidy("a\xC2\xAD"
                 "b"),
            "a?b"); // soft hyphen
  EXPECT_EQ(tidy("a\xF3\xA0\x81\x81"
                 "b"),
            "a?b"); // tag character
  EXPECT_EQ(tidy("a\xFF"
                 "b"),
            "a?b");
  EXPECT_LE(tidy(std::string(100000, 'x')).size(), 410u);
}

TEST(Tidy, LimitsMarksOnOneCharacter) {
  std::string pile = "e";
  for (int i = 0; i < 100; ++i)
    pile += "\xCC\x81";
  EXPECT_EQ(tidy(pile).size(), 1u + 4u * 2u);
}

TEST(TidyCode, KeepsLinesAndIndentation) {
  EXPECT_EQ(tidy_code("for i in x:\n    print(i)\n"), (std::vector<std::string>{"for i in x:", "    print(i)"}));
  EXPECT_EQ(tidy_code("1\n2\n3", 2), (std::vector<std::string>{"1", "2", "..."}));
}

TEST(Shortened, FromEitherEnd) {
  EXPECT_EQ(shortened("abcdefgh", 6), "abc...");
  EXPECT_EQ(shortened_front("abcdefgh", 6), "...fgh");
  EXPECT_EQ(shortened("abc", 3), "abc");
}

TEST(Numbers, AsPeopleReadThem) {
  EXPECT_EQ(number(9999), "9999");
  EXPECT_EQ(number(1234567), "1\xC2\xA0"
                             "234\xC2\xA0"
                             "567");
  EXPECT_EQ(seconds(0.0123), "12.3\xC2\xA0ms");
  EXPECT_EQ(seconds(0.5), "500\xC2\xA0ms");
  EXPECT_EQ(seconds(0.0000005), "1\xC2\xA0us");
  EXPECT_EQ(seconds(-1), "?");
  EXPECT_EQ(percent(0.25), "25\xC2\xA0%");
  EXPECT_EQ(percent(0.0001), "<0.1\xC2\xA0%");
  EXPECT_EQ(days(7 * 86400), "7\xC2\xA0"
                             "days");
  EXPECT_EQ(real(std::nullopt), "-");
}
} // namespace
} // namespace remotemac::report
