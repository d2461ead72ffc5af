#include "cli/log_text.h"
#include "common/text.h"

#include <gtest/gtest.h>
#include <random>

namespace remotemac::cli {
namespace {

TEST(LogText, ACharacterThatWasCutWaitsForTheNextPart) {
  LogText text;
  EXPECT_EQ(text.add("Verlust f\xc3"), "Verlust f");
  EXPECT_EQ(text.waiting(), 1u);
  EXPECT_EQ(text.add("\xbcr \xe6\x97"), "\xc3\xbcr ");
  EXPECT_EQ(text.add(""), "") << "nothing new yet while following";
  EXPECT_EQ(text.add("\xa5"), "\xe6\x97\xa5");
  EXPECT_EQ(text.end(), "");
}

TEST(LogText, WhatIsIncompleteAtTheEndIsReplaced) {
  LogText text;
  EXPECT_EQ(text.add("a\xf0\x9f\x98"), "a");
  EXPECT_EQ(text.waiting(), 3u);
  EXPECT_EQ(text.end(), "???");
  EXPECT_EQ(text.end(), "") << "once";
}

TEST(LogText, ControlCharactersAreCleanedAcrossAnyCut) {
  LogText text;
  // U+202E and U+009B (an escape of one character) cut in two must not slip through.
  EXPECT_EQ(text.add("x\x1b[2J\xe2\x80"), "x?[2J");
  EXPECT_EQ(text.add("\xae\xc2"), "?");
  EXPECT_EQ(text.add("\x9b" "31m"), "?31m");
}

TEST(LogText, AnyCutGivesTheTextOfTheWhole) {
  const char* const pieces[] = {"a", "\n", "\t", "\x1b", "\xc3\xa4", "\xe6\x97\xa5", "\xf0\x9f\x98\x80", "\xe2\x80\xae", "\xc2\x9b", "\xff", "\xc3", "\xe6\x97", "\xf0\x9f\x98", "\x80", "\xed\xa0\x80", "\xc0\xaf"};
  std::mt19937 random(20261201);
  for (int round = 0; round < 3000; ++round) {
    std::string whole;
    for (auto i = random() % 12; i > 0; --i)
      whole += pieces[random() % std::size(pieces)];
    LogText text;
    std::string shown;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t size = std::min<std::size_t>(whole.size() - at, 1 + random() % 3);
      shown += text.add(std::string_view(whole).substr(at, size));
      at += size;
    }
    shown += text.end();
    ASSERT_EQ(shown, clean_text(whole)) << "round " << round;
  }
}

} // namespace
} // namespace remotemac::cli
