#include "daemon/worker/options.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

using Words = std::vector<std::string>;
using std::chrono::milliseconds;

std::string refusal(const Words& words) {
  const auto options = parse_options(words);
  if (options)
    return {};
  EXPECT_EQ(options.error().code(), ErrorCode::usage);
  return options.error().message();
}

TEST(Options, Battery) {
  const auto options = parse_options({"battery", "--device", "cpu", "--profile", "full", "--preload", "a.so", "--preload", "b.so", "--case-deadline", "1.5", "--out", "x.json"});
  ASSERT_TRUE(options) << options.error().chain();
  EXPECT_EQ(options->command, Options::Command::battery);
  EXPECT_EQ(options->device, "cpu");
  EXPECT_EQ(options->profile, Profile::full);
  EXPECT_EQ(options->preload, (Words{"a.so", "b.so"}));
  EXPECT_EQ(options->limits.one_case, milliseconds(1500));
  EXPECT_EQ(options->limits.group, milliseconds(120'000));
  EXPECT_EQ(options->out, "x.json");
}

TEST(Options, ReplayHasMoreTime) {
  const auto options = parse_options({"replay", "--recording", "r.json", "--out", "x.json"});
  ASSERT_TRUE(options) << options.error().chain();
  EXPECT_EQ(options->limits.group, milliseconds(1'800'000));
  EXPECT_EQ(options->device, "mps");
}

TEST(Options, Child) {
  const auto options = parse_options({"group", "layout", "--journal", "j", "--skip", "7"});
  ASSERT_TRUE(options) << options.error().chain();
  EXPECT_EQ(options->command, Options::Command::child);
  EXPECT_EQ(options->group, "layout");
  EXPECT_EQ(options->skip, 7U);
}

TEST(Options, NothingIsHelp) {
  for (const Words& words : {Words{}, Words{"--help"}, Words{"help"}})
    EXPECT_EQ(parse_options(words)->command, Options::Command::help);
}

TEST(Options, MistakesAreNamed) {
  EXPECT_NE(refusal({"batery"}).find("battery"), std::string::npos);
  EXPECT_NE(refusal({"battery", "--devise", "cpu", "--out", "x"}).find("--device"), std::string::npos);
  EXPECT_NE(refusal({"battery"}).find("--out"), std::string::npos);
  EXPECT_NE(refusal({"replay", "--out", "x"}).find("--recording"), std::string::npos);
  EXPECT_NE(refusal({"battery", "--out"}).find("value"), std::string::npos);
  EXPECT_NE(refusal({"battery", "--profile", "", "--out", "x"}).find("profile"), std::string::npos);
  for (const char* seconds : {"0", "-1", "soon", "1s", "nan", "inf", "1e30", ""})
    EXPECT_NE(refusal({"battery", "--case-deadline", seconds, "--out", "x"}), "") << seconds;
  for (const char* count : {"-1", "x", "1.5", "99999999999999999999999"})
    EXPECT_NE(refusal({"group", "layout", "--skip", count}), "") << count;
}

TEST(Options, UsageNamesEveryFlagForPeopleAndNoOther) {
  const std::string text = usage();
  for (const char* flag : {"--device", "--profile", "--recording", "--out", "--preload", "--group-deadline", "--case-deadline"})
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
  EXPECT_EQ(text.find("--journal"), std::string::npos);
}

} // namespace
} // namespace remotemac::worker
