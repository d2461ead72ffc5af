#include "policies/glob.h"

#include <gtest/gtest.h>

namespace remotemac::policies {
namespace {
Glob glob(const char* pattern) {
  Result<Glob> out = Glob::create(pattern);
  EXPECT_TRUE(out) << pattern;
  return out ? *out : *Glob::create("never/matches/anything");
}

struct Case {
  const char* pattern;
  const char* path;
  bool matches;
};

TEST(Glob, Matches) {
  const Case cases[] = {
      {"*.py", "a.py", true},          {"*.py", "src/a.py", false},      {"*.py", ".py", true},        {"src/*.py", "src/a.py", true},       {"src/*.py", "src/b/a.py", false},
      {"src/**", "src/a/b/c", true},   {"src/**", "src", true},          {"src/", "src/a/b", true},    {"**/*.py", "a.py", true},             {"**/*.py", "x/y/a.py", true},
      {"a/**/b", "a/b", true},         {"a/**/b", "a/x/y/b", true},      {"a/**/b", "a/x/y/c", false}, {"file?.txt", "file1.txt", true},      {"file?.txt", "file12.txt", false},
      {"[ab].txt", "a.txt", true},     {"[!ab].txt", "a.txt", false},    {"[a-c]x", "bx", true},       {"[a-c]x", "dx", false},               {"*a*b*", "xxaxxbxx", true},
      {"*a*b*", "xxbxxaxx", false},    {"data", "data/x", false},        {"DATA/x", "data/x", false},  {"n?me", "n\xC3\xA4me", true},         {"a*", "", false},
      {"*", "a/b", false},             {"**", "a/b/c", true},
  };
  for (const Case& each : cases)
    EXPECT_EQ(glob(each.pattern).matches(each.path), each.matches) << each.pattern << " on " << each.path;
}

TEST(Glob, WhatHoldsBackDoesNotFailByATrifle) {
  EXPECT_TRUE(glob("data/\xC3\xBC.csv").covers("data/u\xCC\x88.csv")); // composed, decomposed
  EXPECT_TRUE(glob("data/u\xCC\x88.csv").covers("data/\xC3\xBC.csv"));
  EXPECT_TRUE(glob("data").covers("data/a/b.csv"));
  EXPECT_TRUE(glob("**/private").covers("x/private/a"));
  EXPECT_FALSE(glob("data").covers("database/a"));
  EXPECT_FALSE(glob("*").covers("a/b"));
  EXPECT_FALSE(glob("data/*").covers("data/a/b"));
  EXPECT_FALSE(glob("data/\xC3\xBC.csv").matches("data/u\xCC\x88.csv"));
  EXPECT_TRUE(glob("[!a].txt").matches("\xC3\xBC.txt"));
}

TEST(Glob, KnowsWhatMayLieBelow) {
  EXPECT_FALSE(glob("*.py").may_match_below("src"));
  EXPECT_TRUE(glob("src/*.py").may_match_below("src"));
  EXPECT_FALSE(glob("src/*.py").may_match_below("src/deep"));
  EXPECT_TRUE(glob("**/*.py").may_match_below("any/where"));
  EXPECT_TRUE(glob("a/**/b").may_match_below("a/x/y"));
  EXPECT_FALSE(glob("a/**/b").may_match_below("c"));
}

TEST(Glob, RefusesWhatCannotBeMeant) {
  for (const char* pattern : {"", "/etc/passwd", "../up", "a//b", "a/./b", "[ab", "[]", "a**b", "[\xC3\xBC]", "x\ny", "**/**/**/**/**"})
    EXPECT_FALSE(Glob::create(pattern)) << pattern;
}

TEST(Glob, ManyStarsStayFast) {
  const std::string text(3000, 'a');
  EXPECT_FALSE(glob("*a*a*a*a*a*a*a*a*a*a*a*a*b").matches(text));
}
} // namespace
} // namespace remotemac::policies
