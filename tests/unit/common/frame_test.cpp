#include "common/frame.h"

#include "common/json.h"
#include "tests/support/streams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thread>

namespace remotemac {
namespace {

Deadline soon() { return Deadline(std::chrono::seconds(20)); }

std::array<std::uint8_t, 5> header(std::uint32_t length, std::uint8_t type) {
  return {static_cast<std::uint8_t>(length >> 24), static_cast<std::uint8_t>(length >> 16), static_cast<std::uint8_t>(length >> 8),
          static_cast<std::uint8_t>(length), type};
}

Result<std::optional<Frame>> read_back(std::span<const std::uint8_t> bytes) {
  auto [near, far] = test::make_stream_pair();
  std::thread sender([&, stream = far.get()] {
    EXPECT_TRUE(stream->write_all(bytes, soon()).has_value());
    stream->close();
  });
  Result<std::optional<Frame>> out = read_frame(*near, soon());
  near->close();
  sender.join();
  return out;
}

constexpr FrameType k_types[] = {FrameType::control, FrameType::pack, FrameType::manifest, FrameType::data};

// docs/protocol.md, byte for byte.
TEST(Frame, HasTheDocumentedBytes) {
  const std::vector<std::uint8_t> payload{'h', 'i'};
  EXPECT_EQ(encode_frame(FrameType::data, payload), (std::vector<std::uint8_t>{0, 0, 0, 3, 4, 'h', 'i'}));
  EXPECT_EQ(encode_frame(FrameType::pack, {}), (std::vector<std::uint8_t>{0, 0, 0, 1, 2}));
}

TEST(Frame, EveryTypeComesBack) {
  for (const FrameType type : k_types) {
    const std::vector<std::uint8_t> payload(70'000, static_cast<std::uint8_t>(type));
    const auto frame = read_back(encode_frame(type, payload));
    ASSERT_TRUE(frame.has_value()) << frame.error().chain();
    ASSERT_TRUE(frame->has_value());
    EXPECT_EQ((*frame)->type, type);
    EXPECT_EQ((*frame)->payload, payload);
  }
}

TEST(Frame, TruncationAtEachByteIsAnError) {
  const std::vector<std::uint8_t> payload{1, 2, 3, 4, 5, 6, 7};
  const std::vector<std::uint8_t> whole = encode_frame(FrameType::pack, payload);
  const auto nothing = read_back({});
  ASSERT_TRUE(nothing.has_value());
  EXPECT_FALSE(nothing->has_value()); // a clean end
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto frame = read_back(std::span(whole).first(size));
    ASSERT_FALSE(frame.has_value()) << size;
    EXPECT_EQ(frame.error().code(), ErrorCode::connection) << size;
  }
}

TEST(Frame, CapsHoldAtTheirEdges) {
  for (const FrameType type : k_types) {
    const auto cap = static_cast<std::uint32_t>(frame_cap(type));
    const auto code = static_cast<std::uint8_t>(type);
    const auto at = parse_frame_header(header(cap + 1, code));
    ASSERT_TRUE(at.has_value());
    EXPECT_EQ(at->second, cap);
    const auto over = parse_frame_header(header(cap + 2, code));
    ASSERT_FALSE(over.has_value());
    EXPECT_EQ(over.error().code(), ErrorCode::protocol);
    EXPECT_FALSE(parse_frame_header(header(0xFFFFFFFF, code)).has_value());
    EXPECT_FALSE(parse_frame_header(header(0, code)).has_value());
  }
}

TEST(Frame, DocumentedCaps) {
  EXPECT_EQ(frame_cap(FrameType::control) + 1, 33'554'432U);
  EXPECT_EQ(frame_cap(FrameType::pack), 8U << 20);
  EXPECT_EQ(frame_cap(FrameType::manifest), 8U << 20);
  EXPECT_EQ(frame_cap(FrameType::data), 1U << 20);
}

TEST(Frame, UnknownTypesAreRefused) {
  for (unsigned type = 0; type < 256; ++type)
    EXPECT_EQ(parse_frame_header(header(2, static_cast<std::uint8_t>(type))).has_value(), type >= 1 && type <= 4) << type;
}

TEST(Frame, AHostileLengthIsRefusedFromItsHeaderAlone) {
  const auto bytes = header(0xFFFFFFFF, 1); // nothing follows: a reader that waits for the payload would say "connection"
  const auto frame = read_back(bytes);
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error().code(), ErrorCode::protocol);
}

TEST(Frame, OversizedPayloadsAreNotSent) {
  auto [near, far] = test::make_stream_pair();
  const std::vector<std::uint8_t> payload(k_data_max_bytes + 1);
  const Result<void> done = write_frame(*near, FrameType::data, payload, soon());
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), ErrorCode::internal);
  near->close();
  const auto frame = read_frame(*far, soon());
  ASSERT_TRUE(frame.has_value());
  EXPECT_FALSE(frame->has_value()) << "bytes were sent";
}

TEST(Frame, ControlMessagesAreJson) {
  auto [near, far] = test::make_stream_pair();
  const nlohmann::json message{{"id", 7}, {"method", "hello"}};
  ASSERT_TRUE(write_control(*near, message, soon()).has_value());
  const auto frame = read_frame(*far, soon());
  ASSERT_TRUE(frame.has_value() && frame->has_value());
  EXPECT_EQ((*frame)->type, FrameType::control);
  const auto back = parse_json({reinterpret_cast<const char*>((*frame)->payload.data()), (*frame)->payload.size()}, "the message");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, message);
}

} // namespace
} // namespace remotemac
