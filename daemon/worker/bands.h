#pragma once
// How near is near enough: compares what a device computed with the float64 reference and sorts the difference into three bands.
// equal: within the defaults of torch.testing.assert_close, or not worse than ten times what the CPU differs in the same dtype;
// relaxed: within the tolerances of upstream's own tests of the backend; outside: wrong. Pure functions.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace remotemac::worker {

enum class Band { equal, relaxed, outside };
[[nodiscard]] std::string_view band_name(Band band);

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// assert_close's defaults; exact for integers and bool. complex64 as float32.
[[nodiscard]] Tolerance default_tolerance(std::string_view dtype);
// What upstream's tests allow this operator ("aten::mm") in this dtype.
[[nodiscard]] Tolerance relaxed_tolerance(std::string_view op, std::string_view dtype);

// Differences of one output, or of several together.
struct Difference {
  double max_abs = 0;          // infinite where one is finite and the other is not, or NaN stands against a number
  double max_rel = 0;          // against max(|expected|, 1e-6)
  double max_finite = 0;       // the largest finite difference: what an overflow elsewhere must not hide
  std::uint64_t elements = 0;
  std::uint64_t outside_default = 0;
  std::uint64_t outside_relaxed = 0;
  std::uint64_t not_finite = 0; // NaN or infinity stand at different places

  void add(const Difference& other);
};

[[nodiscard]] Difference compare(std::span<const double> actual, std::span<const double> expected, Tolerance standard, Tolerance relaxed);

struct ErrorStats {
  double max_abs = 0;
  double max_rel = 0;
  std::optional<double> reference_max_rel; // CPU in the same dtype against the reference
  Band band = Band::equal;
  std::uint64_t mismatches = 0;
  std::uint64_t elements = 0;
};

// `cpu`: what the CPU in the same dtype differs from the same reference, where it could compute it.
[[nodiscard]] ErrorStats judge(const Difference& device, const std::optional<Difference>& cpu);

} // namespace remotemac::worker
