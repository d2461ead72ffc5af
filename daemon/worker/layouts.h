#pragma once
// Other memory layouts of the same tensors. Pure.
#include "daemon/worker/signature.h"

#include <optional>
#include <span>
#include <string_view>

namespace remotemac::worker {

enum class Layout { transposed, strided, offset, channels_last, expanded };
[[nodiscard]] std::string_view layout_name(Layout layout);
[[nodiscard]] std::span<const Layout> all_layouts();

enum class Arguments { all, first };

// The signature with this layout for its floating tensors; nullopt when none of them can have it. Written arguments
// (operators ending in "_") are never expanded.
[[nodiscard]] std::optional<Signature> with_layout(const Signature& signature, Layout layout, Arguments arguments);

} // namespace remotemac::worker
