#pragma once
// Which difference of two numbers is allowed: what the project declared, else by data type. Pure functions.
#include "cli/compare/compare.h"

#include <string_view>

namespace remotemac::compare {

// |run - reference| <= absolute + relative * |reference| is equal; within k_relaxed_factor times that is relaxed.
struct Allowed {
  double absolute = 0;
  double relative = 0;
  bool declared = false;

  [[nodiscard]] std::string_view source() const { return declared ? "declared" : "default"; }
};

inline constexpr double k_relaxed_factor = 10;
// Numbers in JSON carry no type; most were single precision before they were written down.
inline constexpr std::string_view k_json_float = "float32";
inline constexpr std::string_view k_json_integer = "int64";

// The longest declared key that is `key` or lies above it, else nullptr. `key` has its parts separated by dots.
[[nodiscard]] const Tolerance* declared(const std::map<std::string, Tolerance>& tolerances, std::string_view file,
    std::string_view key);
// dtype as npy::Array names it. Integers, booleans and text: exact.
[[nodiscard]] Allowed allowed(const Tolerance* declared, std::string_view dtype);
// For two floating types: the looser, which is the one of lower precision.
[[nodiscard]] Allowed looser(const Allowed& a, const Allowed& b);

} // namespace remotemac::compare
