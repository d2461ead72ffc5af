#include "common/byte_stream.h"

#include "tests/support/streams.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace remotemac {
namespace {

Deadline soon() { return Deadline(std::chrono::seconds(20)); }
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

TEST(ByteStream, CarriesMoreThanThePipeHolds) {
  auto [near, far] = test::make_stream_pair();
  std::string sent;
  for (int i = 0; sent.size() < 3'000'000; ++i)
    sent += std::to_string(i) + ",";
  std::thread sender([&, stream = far.get()] { EXPECT_TRUE(stream->write_all(bytes_of(sent), soon()).has_value()); });
  std::vector<std::uint8_t> got(sent.size());
  const Result<void> done = read_exactly(*near, got, soon());
  sender.join();
  ASSERT_TRUE(done.has_value()) << done.error().chain();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin(), sent.end(), [](std::uint8_t a, char b) { return static_cast<char>(a) == b; }));
}

TEST(ByteStream, ReadsZeroAtTheEnd) {
  auto [near, far] = test::make_stream_pair();
  far->close();
  std::vector<std::uint8_t> buffer(10);
  const Result<std::size_t> got = near->read_some(buffer, soon());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, 0U);
}

TEST(ByteStream, AnEndInTheMiddleIsAConnectionError) {
  auto [near, far] = test::make_stream_pair();
  ASSERT_TRUE(far->write_all(bytes_of("abc"), soon()).has_value());
  far->close();
  std::vector<std::uint8_t> buffer(4);
  const Result<void> got = read_exactly(*near, buffer, soon());
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code(), ErrorCode::connection);
}

TEST(ByteStream, AReadEndsAtItsDeadline) {
  auto [near, far] = test::make_stream_pair();
  std::vector<std::uint8_t> buffer(4);
  const Result<std::size_t> got = near->read_some(buffer, Deadline(std::chrono::milliseconds(20)));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code(), ErrorCode::deadline);
}

TEST(ByteStream, AWriteThatNobodyReadsEndsAtItsDeadline) {
  auto [near, far] = test::make_stream_pair();
  const std::vector<std::uint8_t> much(std::size_t{8} << 20);
  const Result<void> done = near->write_all(much, Deadline(std::chrono::milliseconds(50)));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), ErrorCode::deadline);
}

TEST(ByteStream, WritingToAClosedFarEndIsAConnectionError) {
  ::signal(SIGPIPE, SIG_IGN);
  auto [near, far] = test::make_stream_pair();
  far->close();
  const Result<void> done = near->write_all(bytes_of("abc"), soon());
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), ErrorCode::connection);
}

TEST(ByteStream, AClosedStreamGivesErrorsNotBytes) {
  auto [near, far] = test::make_stream_pair();
  near->close();
  near->close(); // twice is allowed
  std::vector<std::uint8_t> buffer(4);
  EXPECT_FALSE(near->read_some(buffer, soon()).has_value());
  EXPECT_FALSE(near->write_all(bytes_of("x"), soon()).has_value());
}

} // namespace
} // namespace remotemac
