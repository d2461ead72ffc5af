#pragma once
// Versions that the two sides agree on. Changing the protocol means changing docs/protocol.md in the same commit.
namespace remotemac {
inline constexpr const char* k_version = "0.1.0";
inline constexpr int k_protocol_min = 1;
inline constexpr int k_protocol_max = 1;
} // namespace remotemac
