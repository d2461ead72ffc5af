#include "sync/ssh/destination.h"

#include <gtest/gtest.h>

namespace remotemac::sync {
namespace {

struct Good {
  const char* text;
  const char* user;
  const char* host;
  int port;
};

TEST(Destination, IsReadInEveryUsualForm) {
  const Good table[] = {
      {"mini1", "", "mini1", 0},
      {"me@mini1", "me", "mini1", 0},
      {"me@mini1.example.org:2222", "me", "mini1.example.org", 2222},
      {"ssh://me@mini1:22", "me", "mini1", 22},
      {"ssh://mini1/", "", "mini1", 0},
      {"me@192.0.2.7", "me", "192.0.2.7", 0},
      {"me@[2001:db8::1]:2200", "me", "2001:db8::1", 2200},
      {"[2001:db8::1]", "", "2001:db8::1", 0},
      {"2001:db8::1", "", "2001:db8::1", 0},
      {"me@fe80::1%eth0", "me", "fe80::1%eth0", 0},
      {"first.last+x@lab_mac-2", "first.last+x", "lab_mac-2", 0},
      {"me@corp@mini1", "me@corp", "mini1", 0},
  };
  for (const Good& row : table) {
    const Result<Destination> parsed = parse_destination(row.text);
    ASSERT_TRUE(parsed.has_value()) << row.text << ": " << parsed.error().chain();
    EXPECT_EQ(parsed->user, row.user) << row.text;
    EXPECT_EQ(parsed->host, row.host) << row.text;
    EXPECT_EQ(parsed->port, row.port) << row.text;
  }
}

TEST(Destination, RefusesWhatCouldReachACommandLine) {
  const std::string table[] = {"", "@", "me@", "@mini1", "-oProxyCommand=x", "me@-oProxyCommand=x", "-l@mini1", "me@mini1;id", "me@$(id)", "me`id`@mini1",
                               "me@mini1 -p 3", "me@mini1\n", std::string("me@mini1\0x", 10), "me@mini1:", "me@mini1:0", "me@mini1:65536", "me@mini1:22x", "me@mini1:-1",
                               "me@[::1", "me@[::1]22", "me@[::1]:", "m\x1b[31m@mini1", "me@mini1/path", "me@m\xc3\xa4rz", "'me'@mini1", "me@\"mini1\"",
                               "me@" + std::string(256, 'a'), std::string(129, 'u') + "@mini1", "me@mini1|x", "me@mini1>x", "a\\b@mini1"};
  for (const std::string& text : table) {
    const Result<Destination> parsed = parse_destination(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::usage) << text;
    EXPECT_FALSE(parsed.error().hint().empty());
    EXPECT_EQ(parsed.error().message().find('\x1b'), std::string::npos);
  }
}

TEST(Destination, IsWrittenForPeople) {
  EXPECT_EQ(to_text({"me", "mini1", 2222}), "me@mini1 port 2222");
  EXPECT_EQ(to_text({"", "mini1", 0}), "mini1");
}

} // namespace
} // namespace remotemac::sync
