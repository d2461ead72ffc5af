#include "common/toml_file.h"

#include <gtest/gtest.h>

namespace remotemac::cli {
namespace {

TEST(TomlFile, BrokenSyntaxNamesFileLineAndColumn) {
  const auto result = parse_toml("[run]\ncommand = [\"a\"\nx = 1\n", "remotemac.toml");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::config);
  EXPECT_NE(result.error().message().find("remotemac.toml:3:"), std::string::npos) << result.error().message();
}

TEST(TomlFile, ValuesKeepTheirPlace) {
  const auto result = parse_toml("a = 1\n[t]\n  b = \"x\"\n", "f");
  ASSERT_TRUE(result);
  const TomlValue* table = result->find("t");
  ASSERT_NE(table, nullptr);
  const TomlValue* b = table->find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->line, 3);
  EXPECT_EQ(b->column, 7);
  EXPECT_EQ(b->text, "x");
}

TEST(TomlReader, UnknownKeyNamesTheNearest) {
  const auto document = parse_toml("comand = [\"train.py\"]\n", "f.toml");
  ASSERT_TRUE(document);
  TomlReader reader(*document, "f.toml", "[run]");
  EXPECT_TRUE(reader.texts("command").empty());
  const auto end = reader.finish();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("f.toml:1:"), std::string::npos);
  EXPECT_NE(end.error().message().find("'comand'"), std::string::npos);
  EXPECT_NE(end.error().hint().find("'command'"), std::string::npos);
}

TEST(TomlReader, WrongTypeSaysWhatWasExpected) {
  const auto document = parse_toml("command = \"train.py\"\n", "f.toml");
  ASSERT_TRUE(document);
  TomlReader reader(*document, "f.toml", "[run]");
  EXPECT_TRUE(reader.texts("command").empty());
  const auto end = reader.finish();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("must be a list of texts"), std::string::npos);
}

TEST(TomlReader, WordListsTheChoices) {
  const auto document = parse_toml("purpose = \"reproducability\"\n", "f.toml");
  ASSERT_TRUE(document);
  TomlReader reader(*document, "f.toml", "[project]");
  EXPECT_FALSE(reader.word("purpose", {"coursework", "reproducibility"}));
  const auto end = reader.finish();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("coursework, reproducibility"), std::string::npos);
  EXPECT_NE(end.error().hint().find("'reproducibility'"), std::string::npos);
}

TEST(TomlReader, ReadsTimesAndSizes) {
  const auto document = parse_toml("a = 90\nb = \"1h30m\"\nc = \"64MiB\"\nd = \"2 parsecs\"\n", "f.toml");
  ASSERT_TRUE(document);
  TomlReader reader(*document, "f.toml", "[run]");
  EXPECT_EQ(reader.seconds("a"), 90u);
  EXPECT_EQ(reader.seconds("b"), 5400u);
  EXPECT_EQ(reader.bytes("c"), 64u << 20);
  EXPECT_FALSE(reader.seconds("d"));
  const auto end = reader.finish();
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("f.toml:4:"), std::string::npos);
}

TEST(TomlFile, QuotingSurvivesAReading) {
  const std::string hard = "a \"quoted\" \\ back slash";
  const auto document = parse_toml("x = " + toml_quote(hard) + "\n", "f");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->find("x")->text, hard);
}

TEST(Durations, RejectWhatIsNotATime) {
  EXPECT_EQ(parse_duration("10m"), 600u);
  EXPECT_EQ(parse_duration("2d"), 172800u);
  for (const char* bad : {"", "m", "10x", "-5s", "1..2m", "9999999999999999999d"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Sizes, RejectWhatIsNotASize) {
  EXPECT_EQ(parse_size("1000"), 1000u);
  EXPECT_EQ(parse_size("1.5GB"), 1'500'000'000u);
  for (const char* bad : {"", "GB", "1 PB", "-1", "1e400GB", "ten"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

} // namespace
} // namespace remotemac::cli
