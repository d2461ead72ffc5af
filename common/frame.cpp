#include "common/frame.h"

#include "common/json.h"

#include <array>
#include <nlohmann/json.hpp>

namespace remotemac {

std::size_t frame_cap(FrameType type) {
  switch (type) {
  case FrameType::control: return k_frame_max_bytes - 1;
  case FrameType::pack:
  case FrameType::manifest: return k_pack_max_bytes;
  case FrameType::data: return k_data_max_bytes;
  }
  return 0;
}

Result<std::pair<FrameType, std::size_t>> parse_frame_header(std::span<const std::uint8_t, 5> header) {
  const std::uint32_t length = (std::uint32_t{header[0]} << 24) | (std::uint32_t{header[1]} << 16) | (std::uint32_t{header[2]} << 8) | header[3];
  if (header[4] < 1 || header[4] > 4)
    return Error(ErrorCode::protocol, "a frame of unknown type " + std::to_string(header[4]) + " arrived");
  const auto type = static_cast<FrameType>(header[4]);
  if (length < 1 || length - 1 > frame_cap(type))
    return Error(ErrorCode::protocol, "a frame of " + std::to_string(length) + " bytes arrived, which is over the limit for its type");
  return std::pair{type, std::size_t{length} - 1};
}

std::vector<std::uint8_t> encode_frame(FrameType type, std::span<const std::uint8_t> payload) {
  const auto length = static_cast<std::uint32_t>(payload.size() + 1);
  std::vector<std::uint8_t> out;
  out.reserve(payload.size() + 5);
  for (const int shift : {24, 16, 8, 0})
    out.push_back(static_cast<std::uint8_t>(length >> shift));
  out.push_back(static_cast<std::uint8_t>(type));
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Result<std::optional<Frame>> read_frame(ByteStream& stream, const Deadline& deadline) {
  std::array<std::uint8_t, 5> header{};
  RM_ASSIGN(const std::size_t got, stream.read_some(header, deadline));
  if (got == 0)
    return std::optional<Frame>();
  RM_TRY(read_exactly(stream, std::span(header).subspan(got), deadline));
  RM_ASSIGN(const auto parsed, parse_frame_header(header));
  Frame frame;
  frame.type = parsed.first;
  frame.payload.resize(parsed.second);
  RM_TRY(read_exactly(stream, frame.payload, deadline));
  return std::optional<Frame>(std::move(frame));
}

Result<void> write_frame(ByteStream& stream, FrameType type, std::span<const std::uint8_t> payload, const Deadline& deadline) {
  if (payload.size() > frame_cap(type))
    return Error(ErrorCode::internal, "a frame of " + std::to_string(payload.size()) + " bytes is over the limit for its type");
  return stream.write_all(encode_frame(type, payload), deadline);
}

Result<void> write_control(ByteStream& stream, const nlohmann::json& message, const Deadline& deadline) {
  const std::string text = dump_json(message, -1);
  return write_frame(stream, FrameType::control, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), deadline);
}

} // namespace remotemac
