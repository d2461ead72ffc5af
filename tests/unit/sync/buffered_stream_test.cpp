#include "sync/buffered_stream.h"

#include "tests/support/streams.h"

#include <gtest/gtest.h>

namespace remotemac::sync {
namespace {

Deadline soon() { return Deadline(std::chrono::seconds(20)); }
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

std::string read(BufferedStream& stream, std::size_t size) {
  std::vector<std::uint8_t> out(size);
  const Result<void> done = read_exactly(stream, out, soon());
  EXPECT_TRUE(done.has_value());
  return {out.begin(), out.end()};
}

TEST(BufferedStream, GivesBytesInOrderWhateverTheSizes) {
  auto [near, far] = test::make_stream_pair();
  BufferedStream stream(std::move(near));
  std::string sent;
  for (int i = 0; sent.size() < 150'000; ++i)
    sent += std::to_string(i) + ",";
  ASSERT_TRUE(far->write_all(bytes_of(sent), soon()).has_value());
  std::string got;
  for (const std::size_t size : {1U, 7U, 70'000U, 3U, 60'000U})
    got += read(stream, size);
  got += read(stream, sent.size() - got.size());
  EXPECT_TRUE(got == sent);
}

TEST(BufferedStream, GivenBackBytesComeFirst) {
  auto [near, far] = test::make_stream_pair();
  BufferedStream stream(std::move(near));
  ASSERT_TRUE(far->write_all(bytes_of("0123456789"), soon()).has_value());
  EXPECT_EQ(read(stream, 6), "012345");
  stream.give_back(bytes_of("45"));
  EXPECT_EQ(read(stream, 6), "456789");
}

TEST(BufferedStream, KnowsWhetherSomethingIsThere) {
  auto [near, far] = test::make_stream_pair();
  BufferedStream stream(std::move(near));
  EXPECT_FALSE(stream.has_input());
  ASSERT_TRUE(far->write_all(bytes_of("x"), soon()).has_value());
  EXPECT_TRUE(stream.has_input());
  EXPECT_EQ(read(stream, 1), "x");
  EXPECT_FALSE(stream.has_input());
  far->close();
  EXPECT_TRUE(stream.has_input()) << "the end is something to read";
}

} // namespace
} // namespace remotemac::sync
