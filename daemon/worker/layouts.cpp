#include "daemon/worker/layouts.h"

#include <algorithm>
#include <array>

namespace remotemac::worker {
namespace {

constexpr std::array k_layouts = {Layout::transposed, Layout::strided, Layout::offset, Layout::channels_last, Layout::expanded};

bool apply(TensorSpec& spec, Layout layout, bool written) {
  const std::size_t rank = spec.shape.size();
  if (!is_floating(spec.dtype) || element_count(spec) < 2)
    return false;
  const std::vector<std::int64_t> before = spec.stride;
  switch (layout) {
  case Layout::transposed:
    if (rank < 2)
      return false;
    spec.stride[rank - 1] = spec.shape[rank - 2];
    spec.stride[rank - 2] = 1;
    break;
  case Layout::strided:
    for (std::int64_t& stride : spec.stride)
      stride *= 2;
    break;
  case Layout::offset:
    spec.offset = 7;
    return true;
  case Layout::channels_last:
    if (rank != 4)
      return false;
    spec.stride = {spec.shape[1] * spec.shape[2] * spec.shape[3], 1, spec.shape[1] * spec.shape[3], spec.shape[1]};
    break;
  case Layout::expanded:
    if (rank < 2 || spec.shape[0] < 2 || written)
      return false;
    spec.stride[0] = 0;
    break;
  }
  return spec.stride != before;
}

} // namespace

std::string_view layout_name(Layout layout) {
  switch (layout) {
  case Layout::transposed:
    return "transposed";
  case Layout::strided:
    return "strided";
  case Layout::offset:
    return "offset";
  case Layout::channels_last:
    return "channels-last";
  case Layout::expanded:
    break;
  }
  return "expanded";
}

std::span<const Layout> all_layouts() { return k_layouts; }

std::optional<Signature> with_layout(const Signature& signature, Layout layout, Arguments arguments) {
  Signature changed = signature;
  bool first = true;
  bool any = false;
  visit_tensors(changed, [&](TensorSpec& spec) {
    if (arguments == Arguments::all || first)
      any = apply(spec, layout, first && signature.op.ends_with('_')) || any;
    first = false;
  });
  return any ? std::optional(std::move(changed)) : std::nullopt;
}

} // namespace remotemac::worker
