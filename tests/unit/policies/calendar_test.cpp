#include "policies/calendar.h"

#include <gtest/gtest.h>

namespace remotemac::policies {
namespace {
using namespace std::chrono;
constexpr sys_days k_day = sys_days(year(2026) / 12 / 1);

TEST(Calendar, ADayEndsAtTheNextMidnight) {
  EXPECT_EQ(end_of("2026-12-01"), Moment(k_day + days(1)));
  EXPECT_EQ(begin_of("2026-12-01"), Moment(k_day));
}

TEST(Calendar, TimesCarryOffsets) {
  EXPECT_EQ(end_of("2026-12-01T09:30:15Z"), Moment(k_day + hours(9) + minutes(30) + seconds(15)));
  EXPECT_EQ(end_of("2026-12-01T09:30:00+09:00"), Moment(k_day + minutes(30)));
  EXPECT_EQ(end_of("2026-12-01T09:30:00.25-0330"), Moment(k_day + hours(13)));
  EXPECT_EQ(end_of("2026-12-01 09:30"), Moment(k_day + hours(9) + minutes(30)));
}

TEST(Calendar, WhatNoClockCanCountIsTheEndOfTime) {
  // 9999 is what people write for "no end"; 2500 and 2700 would come round to 1915 and 2115.
  for (const char* text : {"9999-12-31", "2500-01-01", "2700-01-01T00:00:00Z"}) {
    EXPECT_GT(end_of(text), Moment(k_day + days(365 * 200))) << text;
    EXPECT_GT(begin_of(text), Moment(k_day + days(365 * 200))) << text;
  }
  EXPECT_LT(end_of("0001-01-01"), Moment(k_day));
}

TEST(Calendar, WhatIsNoDateIsNothing) {
  for (const char* text : {"", "2026", "2026-13-01", "2026-02-30", "01.12.2026", "2026-12-1", "2026-12-01T25:00:00Z", "2026-12-01T09:00:00 CET", "2026-12-01T09:0", "2026-12-01T09:00:00-99:99", "never"})
    EXPECT_FALSE(end_of(text)) << text;
}
} // namespace
} // namespace remotemac::policies
