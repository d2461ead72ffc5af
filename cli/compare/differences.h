#pragma once
// Counting of differences, element by element, in three bands. Not thread-safe; bounded memory.
#include "cli/compare/tolerances.h"

#include <complex>
#include <cstdint>
#include <optional>

namespace remotemac::compare {

class Differences {
public:
  explicit Differences(const Allowed& allowed) : m_allowed(allowed) {}
  // Elements in C order, one after the other. NaN on both sides and equal infinities are equal.
  void add(std::complex<double> run, std::complex<double> reference);
  // Text, booleans, 64-bit integers without tolerance: equal or not.
  void add_exact(bool equal);
  void add_distance(double distance, double size); // both finite
  // Into elements, mismatches, max_abs, max_rel, first_index, nan_*, status and a detail.
  void write_to(OutputPair& pair) const;

private:
  void note_mismatch(bool outside);

  Allowed m_allowed;
  std::uint64_t m_elements = 0;
  std::uint64_t m_not_equal = 0; // relaxed and outside
  std::uint64_t m_outside = 0;
  std::uint64_t m_infinite = 0; // infinite on one side, or of another sign
  std::optional<std::uint64_t> m_first_not_equal;
  std::optional<std::uint64_t> m_first_outside;
  std::optional<double> m_max_abs;
  std::optional<double> m_max_rel;
  std::uint64_t m_nan_run = 0;
  std::uint64_t m_nan_reference = 0;
  bool m_nan_pattern_differs = false;
};

} // namespace remotemac::compare
