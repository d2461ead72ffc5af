#pragma once
// Versions of torch. Pure.
#include <string_view>

namespace remotemac::worker {

// True when both are versions of one minor series: "2.15.0" and "2.15.1+cu132".
[[nodiscard]] bool same_series(std::string_view one, std::string_view other);

} // namespace remotemac::worker
