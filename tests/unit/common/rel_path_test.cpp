#include "common/rel_path.h"

#include <gtest/gtest.h>

namespace remotemac {
namespace {

std::string key(std::string_view text) {
  const Result<RelPath> path = RelPath::create(text);
  EXPECT_TRUE(path.has_value()) << text;
  return path ? path->collision_key() : std::string();
}

TEST(RelPath, TakesOrdinaryNames) {
  for (const char* text : {"a", "a/b", ".hidden", "..a", "a..", "...", "a b", "\u00e9\u4e16/\U0001f600.py", "-rf", "a\\b", "C:x"})
    EXPECT_TRUE(RelPath::create(text).has_value()) << text;
  EXPECT_TRUE(RelPath::create(std::string(255, 'x')).has_value());
}

TEST(RelPath, RefusesWhatLeavesTheFolderOrHides) {
  for (const std::string& text :
       {std::string(), std::string("/"), std::string("/a"), std::string("."), std::string(".."), std::string("a/.."), std::string("../a"), std::string("a/./b"),
        std::string("a//b"), std::string("a/"), std::string("a\0", 2), std::string("a\nb"), std::string("a\tb"), std::string("\x7f"), std::string("\u0085"),
        std::string("\u202e"), std::string("\u2066"), std::string("\u200f"), std::string("\ufeff"), std::string("\xff"), std::string("\xc0\xaf"),
        std::string("\xed\xa0\x80"), std::string("a/") + std::string(256, 'x')}) {
    const Result<RelPath> path = RelPath::create(text);
    ASSERT_FALSE(path.has_value()) << text;
    EXPECT_EQ(path.error().code(), ErrorCode::refused);
    EXPECT_EQ(path.error().message().find('\n'), std::string::npos);
  }
}

TEST(RelPath, LengthCapHoldsAtItsEdge) {
  std::string text;
  while (text.size() < 1024)
    text += std::string(127, 'p') + "/";
  text.resize(1024);
  text.back() = 'p';
  EXPECT_TRUE(RelPath::create(text).has_value());
  EXPECT_FALSE(RelPath::create(text + "p").has_value());
}

TEST(RelPath, PartsAndName) {
  const Result<RelPath> path = RelPath::create("src/model/net.py");
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->parts(), (std::vector<std::string>{"src", "model", "net.py"}));
  EXPECT_EQ(path->name(), "net.py");
  EXPECT_EQ(RelPath::create("one")->name(), "one");
}

TEST(RelPath, CollisionKeyFoldsCaseAndNormalisation) {
  EXPECT_EQ(key("README"), key("readme"));
  EXPECT_EQ(key("\u00c9cole"), key("e\u0301cole"));
  EXPECT_EQ(key("STRASSE"), key("stra\u00dfe"));
  EXPECT_EQ(key("a\u200db"), key("ab")); // ignorable characters
  EXPECT_NE(key("a/b"), key("ab"));
  EXPECT_NE(key("a"), key("b"));
}

TEST(RelPath, OrderIsThatOfBytes) {
  EXPECT_LT(*RelPath::create("a-b"), *RelPath::create("a/b"));
  EXPECT_LT(*RelPath::create("Z"), *RelPath::create("a"));
}

} // namespace
} // namespace remotemac
