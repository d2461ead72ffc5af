#pragma once
// Frames of docs/protocol.md: length, type, payload. Both sides use this; every length is capped before memory is taken.
#include "common/byte_stream.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace remotemac {

enum class FrameType : std::uint8_t { control = 1, pack = 2, manifest = 3, data = 4 };

inline constexpr std::uint32_t k_frame_max_bytes = 33'554'432;
inline constexpr std::size_t k_pack_max_bytes = std::size_t{8} << 20;
inline constexpr std::size_t k_pack_max_unpacked_bytes = std::size_t{16} << 20;
inline constexpr std::size_t k_manifest_max_unpacked_bytes = std::size_t{32} << 20;
inline constexpr std::size_t k_data_max_bytes = std::size_t{1} << 20;
inline constexpr std::size_t k_chunk_bytes = std::size_t{2} << 20; // larger files are cut every 2 MiB

struct Frame {
  FrameType type = FrameType::control;
  std::vector<std::uint8_t> payload;
};

// Payload cap of each type, the table of docs/protocol.md.
[[nodiscard]] std::size_t frame_cap(FrameType type);
// Checks a header of 5 bytes; gives the payload size. Used by both blocking and asynchronous readers.
[[nodiscard]] Result<std::pair<FrameType, std::size_t>> parse_frame_header(std::span<const std::uint8_t, 5> header);
[[nodiscard]] std::vector<std::uint8_t> encode_frame(FrameType type, std::span<const std::uint8_t> payload);

// nullopt when the stream ended cleanly between two frames.
[[nodiscard]] Result<std::optional<Frame>> read_frame(ByteStream& stream, const Deadline& deadline);
[[nodiscard]] Result<void> write_frame(ByteStream& stream, FrameType type, std::span<const std::uint8_t> payload, const Deadline& deadline);
[[nodiscard]] Result<void> write_control(ByteStream& stream, const nlohmann::json& message, const Deadline& deadline);

} // namespace remotemac
