#pragma once
// Dates of contracts, leases and assessments: "2026-12-01" or "2026-12-01T09:00:00Z" (also with an offset).
#include "common/result.h"

#include <chrono>
#include <optional>
#include <string_view>

namespace remotemac::policies {

using Moment = std::chrono::system_clock::time_point;

// The first moment at which the stated day or time is over: the next midnight UTC for a day. nullopt when it is no date.
[[nodiscard]] std::optional<Moment> end_of(std::string_view text);
// The moment at which it begins.
[[nodiscard]] std::optional<Moment> begin_of(std::string_view text);

} // namespace remotemac::policies
