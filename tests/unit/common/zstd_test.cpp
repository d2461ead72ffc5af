#include "common/zstd.h"

#include <gtest/gtest.h>

#include <random>

namespace remotemac {
namespace {
using Bytes = std::vector<std::uint8_t>;

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(size);
  for (std::uint8_t& each : out)
    each = static_cast<std::uint8_t>(random());
  return out;
}

TEST(Zstd, ComesBackWhatWasGiven) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{131'072}, std::size_t{131'073}, std::size_t{5} << 20}) {
    for (const int level : {1, 3, 19}) {
      const Bytes bytes = noise(size, 1);
      const auto packed = zstd_compress(bytes, size > 1'000'000 ? 1 : level);
      ASSERT_TRUE(packed.has_value());
      const auto back = zstd_decompress(*packed, size);
      ASSERT_TRUE(back.has_value()) << size << ": " << back.error().chain();
      EXPECT_TRUE(*back == bytes) << size;
    }
  }
}

TEST(Zstd, OneByteOverTheCapIsRefused) {
  const Bytes bytes(100'000, 7);
  const auto packed = zstd_compress(bytes, 3);
  ASSERT_TRUE(packed.has_value());
  EXPECT_TRUE(zstd_decompress(*packed, bytes.size()).has_value());
  const auto over = zstd_decompress(*packed, bytes.size() - 1);
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code(), ErrorCode::protocol);
}

TEST(Zstd, ABombIsStoppedAtTheCap) {
  const Bytes zeros(std::size_t{256} << 20);
  const auto packed = zstd_compress(zeros, 1);
  ASSERT_TRUE(packed.has_value());
  EXPECT_LT(packed->size(), 100'000U) << "not a bomb";
  const auto out = zstd_decompress(*packed, 1 << 20);
  ASSERT_FALSE(out.has_value());
  EXPECT_NE(out.error().chain().find("limit"), std::string::npos);
}

TEST(Zstd, TruncationAtEachByteIsAnError) {
  const Bytes bytes = noise(700, 2);
  const auto packed = zstd_compress(bytes, 3);
  ASSERT_TRUE(packed.has_value());
  for (std::size_t size = 0; size < packed->size(); ++size) {
    const auto out = zstd_decompress(std::span(*packed).first(size), 1 << 20);
    ASSERT_FALSE(out.has_value()) << size;
    EXPECT_EQ(out.error().code(), ErrorCode::protocol) << size;
  }
}

TEST(Zstd, BytesAfterTheFrameAreRefused) {
  auto packed = zstd_compress(noise(700, 3), 3);
  ASSERT_TRUE(packed.has_value());
  const Bytes twice = [&] {
    Bytes out = *packed;
    out.insert(out.end(), packed->begin(), packed->end());
    return out;
  }();
  EXPECT_FALSE(zstd_decompress(twice, 1 << 20).has_value());
  packed->push_back(0);
  EXPECT_FALSE(zstd_decompress(*packed, 1 << 20).has_value());
}

// A frame header that asks for a window of 2^27 bytes must be refused before memory is taken for it. (RFC 8878, 3.1.1.1.2.)
TEST(Zstd, AWindowOverTheCapIsRefused) {
  const auto frame = [](std::uint8_t exponent) {
    const auto window = static_cast<std::uint8_t>(exponent << 3);
    return Bytes{0x28, 0xB5, 0x2F, 0xFD, 0x00, window, 0x09, 0x00, 0x00, 'x'}; // one last raw block of one byte
  };
  const auto small = zstd_decompress(frame(13), 100); // 2^23
  ASSERT_TRUE(small.has_value()) << small.error().chain();
  EXPECT_EQ(*small, Bytes{'x'});
  const auto large = zstd_decompress(frame(17), 100);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().code(), ErrorCode::protocol);
}

TEST(Zstd, NoiseGivesAnErrorOrStaysUnderTheCap) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (unsigned i = 0; i < 500; ++i) {
    Bytes bytes = noise(64, seed + i);
    if (i % 2 == 0) { // half of them behind a good magic number
      const Bytes magic{0x28, 0xB5, 0x2F, 0xFD};
      std::copy(magic.begin(), magic.end(), bytes.begin());
    }
    const auto out = zstd_decompress(bytes, 4096);
    if (out.has_value())
      EXPECT_LE(out->size(), 4096U);
    else
      EXPECT_EQ(out.error().code(), ErrorCode::protocol);
  }
}

} // namespace
} // namespace remotemac
