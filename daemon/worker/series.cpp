#include "daemon/worker/series.h"

namespace remotemac::worker {
namespace {

std::string_view series(std::string_view version) {
  const auto first = version.find('.');
  if (first == std::string_view::npos || first == 0)
    return {};
  const auto end = version.find_first_not_of("0123456789", first + 1);
  if (end == first + 1 || first + 1 == version.size() || version.find_first_not_of("0123456789") != first)
    return {};
  return version.substr(0, end);
}

} // namespace

bool same_series(std::string_view one, std::string_view other) { return !series(one).empty() && series(one) == series(other); }

} // namespace remotemac::worker
