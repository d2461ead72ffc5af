#include "daemon/capped_log.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <random>

namespace remotemac::daemon {
namespace {
TEST(CappedLogTest, KeepsBytesAsTheyAreBelowTheCap) {
  const test::TempDir dir;
  const std::string noise("\0\x1b[31m\xff\n", 8);
  auto log = CappedLog::open(dir / "log", 100).value();
  log.write(noise);
  log.write(noise);
  EXPECT_EQ(test::read_file(dir / "log"), noise + noise);
  EXPECT_EQ(log.file_bytes(), 2 * noise.size());
  EXPECT_EQ(log.dropped_bytes(), 0u);
}

TEST(CappedLogTest, TheCapIsExactMarkedOnceAndCountedWhateverThePieces) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    const test::TempDir dir;
    const std::size_t cap = random() % 500;
    auto log = CappedLog::open(dir / "log", cap).value();
    std::string all;
    for (int i = 0; i < 20; ++i) {
      const std::string piece(random() % 80, static_cast<char>('a' + i));
      log.write(piece);
      all += piece;
    }
    const std::string file = test::read_file(dir / "log");
    EXPECT_EQ(file.size(), log.file_bytes());
    EXPECT_EQ(file.substr(0, std::min(cap, all.size())), all.substr(0, cap));
    EXPECT_EQ(log.dropped_bytes(), all.size() - std::min(cap, all.size()));
    std::size_t marks = 0;
    for (std::size_t at = file.find("[remotemac:"); at != std::string::npos; at = file.find("[remotemac:", at + 1))
      ++marks;
    EXPECT_EQ(marks, all.size() > cap ? 1u : 0u);
    EXPECT_TRUE(all.ends_with(log.tail()) && log.tail().size() == all.size());
  }
}

TEST(CappedLogTest, TheTailHoldsTheLastWordsEvenDroppedOnes) {
  const test::TempDir dir;
  auto log = CappedLog::open(dir / "log", 10).value();
  for (int i = 0; i < 5000; ++i)
    log.write("line " + std::to_string(i) + "\n");
  EXPECT_TRUE(log.tail().ends_with("line 4998\nline 4999\n"));
  EXPECT_LE(log.tail().size(), 16384u);
}

TEST(CappedLogTest, AFullDiskStopsTheLogAndNotTheJob) {
  auto log = CappedLog::open("/dev/full", 1000);
  if (!log)
    GTEST_SKIP() << "no /dev/full here";
  log->write("lost");
  log->write("lost too");
  EXPECT_EQ(log->dropped_bytes(), 12u);
  EXPECT_EQ(log->file_bytes(), 0u);
}

TEST(CappedLogTest, ALinkIsNotFollowed) {
  const test::TempDir dir;
  std::filesystem::create_symlink(dir / "elsewhere", dir / "log");
  EXPECT_FALSE(CappedLog::open(dir / "log", 10).has_value());
  EXPECT_FALSE(std::filesystem::exists(dir / "elsewhere"));
}
} // namespace
} // namespace remotemac::daemon
