#pragma once
// Canonical JSON (RFC 8785, restricted to what signed and hashed records may hold: no floating point numbers) and parsing that
// never throws. Include <nlohmann/json.hpp> yourself where you build values.
#include "common/result.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace remotemac {

// Error internal if the value holds a float, a discarded value or text that is not UTF-8.
[[nodiscard]] Result<std::string> canonical_json(const nlohmann::json& value);
// Parses untrusted text: depth <= 64, size <= max_bytes. `what` names the text in the error ("the harness document").
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view what, std::size_t max_bytes = std::size_t{256} << 20);
// Serialises for people and files; broken UTF-8 is replaced instead of thrown upon. indent < 0: one line.
[[nodiscard]] std::string dump_json(const nlohmann::json& value, int indent = 2);

// Typed reading of untrusted objects: each gives the fallback when the key is missing or of another type. Never throw.
[[nodiscard]] std::string json_text(const nlohmann::json& object, std::string_view key, std::string_view fallback = {});
[[nodiscard]] std::int64_t json_int(const nlohmann::json& object, std::string_view key, std::int64_t fallback = 0);
[[nodiscard]] double json_number(const nlohmann::json& object, std::string_view key, double fallback = 0);
[[nodiscard]] bool json_flag(const nlohmann::json& object, std::string_view key, bool fallback = false);
// The member, or a shared null value.
[[nodiscard]] const nlohmann::json& json_at(const nlohmann::json& object, std::string_view key);

} // namespace remotemac
