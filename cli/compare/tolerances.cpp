#include "cli/compare/tolerances.h"

#include <algorithm>

namespace remotemac::compare {
namespace {

struct DefaultRow {
  std::string_view dtype;
  double absolute;
  double relative;
};

// As torch.testing.assert_close has them.
constexpr DefaultRow k_defaults[] = {
    {"float16", 1e-5, 1e-3},    {"float32", 1e-5, 1.3e-6},    {"float64", 1e-7, 1e-7},
    {"complex64", 1e-5, 1.3e-6}, {"complex128", 1e-7, 1e-7},
};

} // namespace

const Tolerance* declared(const std::map<std::string, Tolerance>& tolerances, std::string_view file, std::string_view key) {
  while (true) {
    const auto found = tolerances.find(std::string(file) + ":" + std::string(key));
    if (found != tolerances.end())
      return &found->second;
    const std::size_t dot = key.rfind('.');
    if (dot == std::string_view::npos)
      return nullptr;
    key = key.substr(0, dot);
  }
}

Allowed allowed(const Tolerance* tolerance, std::string_view dtype) {
  Allowed out;
  for (const DefaultRow& row : k_defaults)
    if (row.dtype == dtype)
      out = {row.absolute, row.relative, false};
  if (tolerance == nullptr || (!tolerance->absolute && !tolerance->relative))
    return out;
  return {tolerance->absolute.value_or(out.absolute), tolerance->relative.value_or(out.relative), true};
}

Allowed looser(const Allowed& a, const Allowed& b) {
  return {std::max(a.absolute, b.absolute), std::max(a.relative, b.relative), a.declared || b.declared};
}

} // namespace remotemac::compare
