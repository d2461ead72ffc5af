#include "common/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace remotemac {
namespace {
using nlohmann::json;

std::string canonical(const json& value) {
  const Result<std::string> out = canonical_json(value);
  EXPECT_TRUE(out.has_value()) << (out ? "" : out.error().chain());
  return out ? *out : std::string("(error)");
}

TEST(CanonicalJson, HasNoSpacesAndSortedKeys) {
  EXPECT_EQ(canonical(json::parse(R"( { "b" : [ 1 , true , null ] , "a" : { "d" : "x" , "c" : false } } )")),
            R"({"a":{"c":false,"d":"x"},"b":[1,true,null]})");
  EXPECT_EQ(canonical(json::object()), "{}");
  EXPECT_EQ(canonical(json::array()), "[]");
}

// RFC 8785, 3.2.3: the example of its text, whose order differs from that of code points.
TEST(CanonicalJson, KeysAreSortedByUtf16Units) {
  const json value{{"\u20ac", "Euro Sign"}, {"\r", "Carriage Return"}, {"\ufb33", "Hebrew Letter Dalet With Dagesh"}, {"1", "One"},
                   {"\U0001f600", "Emoji: Grinning Face"}, {"\u0080", "Control"}, {"\u00f6", "Latin Small Letter O With Diaeresis"}};
  const std::string text = canonical(value);
  std::size_t at = 0;
  for (const char* expected : {"Carriage Return", "One", "Control", "Latin Small", "Euro Sign", "Emoji", "Hebrew"}) {
    const std::size_t found = text.find(expected);
    ASSERT_NE(found, std::string::npos) << expected;
    EXPECT_GE(found, at) << expected;
    at = found;
  }
}

// RFC 8785, 3.2.2.2.
TEST(CanonicalJson, EscapesWhatMustBeEscapedAndNothingElse) {
  EXPECT_EQ(canonical(json(std::string("\x20\xE2\x82\xAC$\x0F\nA'B\"\\\\\"/", 15))), "\" \xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"");
  EXPECT_EQ(canonical(json(std::string("\b\t\n\f\r\0\x1f\x7f", 8))), "\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\"");
}

TEST(CanonicalJson, IntegersAreExactToTheirEnds) {
  EXPECT_EQ(canonical(json(0)), "0");
  EXPECT_EQ(canonical(json(-1)), "-1");
  EXPECT_EQ(canonical(json(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(canonical(json(UINT64_MAX)), "18446744073709551615");
}

TEST(CanonicalJson, RefusesWhatItCannotWriteTheSameEverywhere) {
  for (const json& value : {json(1.5), json(1.0), json(std::nan("")), json::binary({1, 2}), json(json::value_t::discarded), json("\xff"), json{{"\xc0\x80", 1}}}) {
    const Result<std::string> out = canonical_json(json::array({value}));
    ASSERT_FALSE(out.has_value());
    EXPECT_EQ(out.error().code(), ErrorCode::internal);
  }
}

TEST(CanonicalJson, IsAFixedPoint) {
  const std::string once = canonical(json::parse(R"({"z":[{"y":"\u00e9\ud83d\ude00"},-5],"a":"\u001f"})"));
  EXPECT_EQ(canonical(json::parse(once)), once);
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, DepthCapHoldsAtItsEdge) {
  EXPECT_TRUE(parse_json(nested(64), "it").has_value());
  const auto deep = parse_json(nested(65), "it");
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().code(), ErrorCode::protocol);
  EXPECT_FALSE(parse_json(std::string(10'000'000, '['), "it").has_value()); // would exhaust a recursive reader's stack
}

TEST(ParseJson, BracketsInTextAreNotNesting) {
  const std::string text = "[\"" + std::string(200, '[') + "\\\"" + std::string(200, '{') + "\"]";
  EXPECT_TRUE(parse_json(text, "it").has_value());
}

TEST(ParseJson, SizeCapHoldsAtItsEdge) {
  EXPECT_TRUE(parse_json("[1, 2]", "it", 6).has_value());
  EXPECT_FALSE(parse_json("[1, 2]", "it", 5).has_value());
}

TEST(ParseJson, ErrorsNameTheTextAndHoldNoControlCharacters) {
  const auto bad = parse_json("{\"a\": \x1b[31m}", "the harness document");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().chain().rfind("the harness document", 0), 0U) << bad.error().chain();
  EXPECT_EQ(bad.error().message().find('\x1b'), std::string::npos);
}

TEST(ParseJson, TruncationAtEachByteIsAnError) {
  const std::string whole = R"({"a":[1,true,{"b":"\u00e9"}],"c":null})";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_json(whole.substr(0, size), "it").has_value()) << size;
  EXPECT_FALSE(parse_json(whole + "x", "it").has_value());
  EXPECT_TRUE(parse_json(whole, "it").has_value());
}

TEST(DumpJson, ReplacesBrokenUtf8) { EXPECT_EQ(dump_json(json("a\xff"), -1), "\"a\xEF\xBF\xBD\""); }

TEST(JsonReaders, GiveTheFallbackForOtherTypes) {
  const json object{{"t", "text"}, {"i", -3}, {"u", UINT64_MAX}, {"d", 1.5}, {"f", true}, {"n", nullptr}};
  EXPECT_EQ(json_text(object, "t", "else"), "text");
  EXPECT_EQ(json_text(object, "i", "else"), "else");
  EXPECT_EQ(json_int(object, "i", 9), -3);
  EXPECT_EQ(json_int(object, "u", 9), 9); // does not fit
  EXPECT_EQ(json_int(object, "d", 9), 9);
  EXPECT_EQ(json_number(object, "d", 9), 1.5);
  EXPECT_EQ(json_number(object, "i", 9), -3.0);
  EXPECT_TRUE(json_flag(object, "f"));
  EXPECT_TRUE(json_flag(object, "t", true));
  EXPECT_TRUE(json_at(object, "none").is_null());
  for (const json& other : {json(), json(3), json("x"), json::array({1})}) {
    EXPECT_EQ(json_text(other, "t", "else"), "else");
    EXPECT_EQ(json_int(other, "t", 9), 9);
    EXPECT_TRUE(json_at(other, "t").is_null());
  }
}

} // namespace
} // namespace remotemac
