#include "common/log.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace remotemac {
namespace {

TEST(Log, WritesOneCleanLineForEachEventOfItsLevel) {
  const test::TempDir dir;
  log_event(LogLevel::error, "cli", "before", {}); // nowhere to go yet; must not crash
  const Result<void> opened = open_log(dir / "client.log", LogLevel::info);
  ASSERT_TRUE(opened.has_value()) << opened.error().chain();
  log_event(LogLevel::info, "ssh", "connected", {{"host", "mini1"}, {"note", "two\nlines \x1b[0m"}});
  log_event(LogLevel::debug, "ssh", "hidden", {});
  log_event(LogLevel::error, "sync", "failed", {});
  const std::string text = test::read_file(dir / "client.log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_NE(text.find("connected"), std::string::npos) << text;
  EXPECT_NE(text.find("host="), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_EQ(text.find("before"), std::string::npos);
}

TEST(Log, AnUnusablePlaceIsAnError) {
  const test::TempDir dir;
  test::write_file(dir / "file", "x");
  EXPECT_FALSE(open_log(dir / "file/below.log", LogLevel::info).has_value());
}

} // namespace
} // namespace remotemac
