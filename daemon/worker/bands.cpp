#include "daemon/worker/bands.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace remotemac::worker {
namespace {

constexpr double k_floor = 1e-6;
constexpr double k_times_cpu = 10;

enum class Family { other, matrix, convolution, fourier, layer_norm };

struct FamilyRow {
  std::string_view part; // of the operator's name
  Family family;
};

// First match wins.
constexpr FamilyRow k_families[] = {
    {"layer_norm", Family::layer_norm}, {"convolution", Family::convolution}, {"conv1d", Family::convolution},   {"conv2d", Family::convolution},
    {"conv3d", Family::convolution},    {"conv_transpose", Family::convolution}, {"fft", Family::fourier},       {"stft", Family::fourier},
    {"addmm", Family::matrix},          {"addmv", Family::matrix},            {"baddbmm", Family::matrix},        {"addbmm", Family::matrix},
    {"bmm", Family::matrix},            {"matmul", Family::matrix},           {"linear", Family::matrix},         {"multi_dot", Family::matrix},
    {"scaled_dot_product", Family::matrix}, {"aten::mm", Family::matrix},     {"aten::mv", Family::matrix},       {"einsum", Family::matrix},
};

struct RelaxedRow {
  Family family;
  std::string_view dtype;
  Tolerance tolerance;
};

// The tables of upstream's tests of this backend; relaxed_tolerance() has what holds for every other operator.
constexpr RelaxedRow k_relaxed[] = {
    {Family::matrix, "float32", {1e-4, 3e-5}},     {Family::convolution, "float32", {1e-4, 3e-5}}, {Family::fourier, "float32", {3e-5, 3e-5}},
    {Family::layer_norm, "float32", {1e-4, 1.3e-5}}, {Family::matrix, "float16", {5e-2, 5e-2}},    {Family::convolution, "float16", {5e-2, 5e-2}},
    {Family::matrix, "bfloat16", {5e-2, 1e-1}},    {Family::convolution, "bfloat16", {5e-2, 1e-1}},
};

bool same_special(double actual, double expected) { return (std::isnan(actual) && std::isnan(expected)) || actual == expected; }

} // namespace

std::string_view band_name(Band band) {
  switch (band) {
  case Band::equal:
    return "equal";
  case Band::relaxed:
    return "relaxed";
  case Band::outside:
    break;
  }
  return "outside";
}

Tolerance default_tolerance(std::string_view dtype) {
  if (dtype == "float16" || dtype == "complex32")
    return {1e-5, 1e-3};
  if (dtype == "bfloat16")
    return {1e-5, 1.6e-2};
  if (dtype == "float32" || dtype == "complex64")
    return {1e-5, 1.3e-6};
  if (dtype == "float64" || dtype == "complex128")
    return {1e-7, 1e-7};
  return {0, 0};
}

Tolerance relaxed_tolerance(std::string_view op, std::string_view dtype) {
  if (dtype == "complex64")
    dtype = "float32";
  Family family = Family::other;
  for (const FamilyRow& row : k_families)
    if (op.find(row.part) != std::string_view::npos) {
      family = row.family;
      break;
    }
  for (const RelaxedRow& row : k_relaxed)
    if (row.family == family && row.dtype == dtype)
      return row.tolerance;
  if (dtype == "float16" || dtype == "complex32")
    return {2e-2, 1e-2};
  if (dtype == "bfloat16")
    return {5e-2, 5e-2};
  return default_tolerance(dtype);
}

void Difference::add(const Difference& other) {
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
  max_finite = std::max(max_finite, other.max_finite);
  elements += other.elements;
  outside_default += other.outside_default;
  outside_relaxed += other.outside_relaxed;
  not_finite += other.not_finite;
}

Difference compare(std::span<const double> actual, std::span<const double> expected, Tolerance standard, Tolerance relaxed) {
  Difference result;
  const std::size_t count = std::min(actual.size(), expected.size());
  result.elements = count;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = actual[i];
    const double e = expected[i];
    if (same_special(a, e))
      continue;
    const double difference = std::abs(a - e);
    if (!std::isfinite(difference)) {
      ++result.not_finite;
      ++result.outside_default;
      ++result.outside_relaxed;
      result.max_abs = result.max_rel = std::numeric_limits<double>::infinity();
      continue;
    }
    const double size = std::abs(e);
    result.max_abs = std::max(result.max_abs, difference);
    result.max_finite = std::max(result.max_finite, difference);
    result.max_rel = std::max(result.max_rel, difference / std::max(size, k_floor));
    if (difference > standard.absolute + standard.relative * size)
      ++result.outside_default;
    if (difference > relaxed.absolute + relaxed.relative * size)
      ++result.outside_relaxed;
  }
  return result;
}

ErrorStats judge(const Difference& device, const std::optional<Difference>& cpu) {
  ErrorStats stats;
  stats.max_abs = device.max_abs;
  stats.max_rel = device.max_rel;
  stats.mismatches = device.outside_default;
  stats.elements = device.elements;
  if (cpu)
    stats.reference_max_rel = cpu->max_rel;
  // Where the CPU itself strays from the reference (long sums, near cancellation), the dtype is to blame, not the device.
  const bool no_worse_than_cpu = cpu && device.not_finite <= cpu->not_finite && device.max_finite <= k_times_cpu * cpu->max_finite;
  if (device.outside_default == 0 || no_worse_than_cpu)
    stats.band = Band::equal;
  else
    stats.band = device.outside_relaxed == 0 ? Band::relaxed : Band::outside;
  return stats;
}

} // namespace remotemac::worker
