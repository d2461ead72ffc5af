#include "daemon/worker/series.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

TEST(SameSeries, MinorSeriesCount) {
  EXPECT_TRUE(same_series("2.15.0", "2.15.1+cu132"));
  EXPECT_TRUE(same_series("2.15", "2.15.0a0"));
  EXPECT_FALSE(same_series("2.15.0", "2.1.5"));
  EXPECT_FALSE(same_series("2.15.0", "3.15.0"));
}

TEST(SameSeries, WhatIsNoVersionIsOfNoSeries) {
  for (const char* text : {"", "2", "2.", ".15", "unknown", "v2.15.0"})
    EXPECT_FALSE(same_series(text, text)) << text;
}

} // namespace
} // namespace remotemac::worker
