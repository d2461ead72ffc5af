#include "cli/compare/differences.h"

#include <algorithm>
#include <cmath>

namespace remotemac::compare {
namespace {

using Number = std::complex<double>;
bool is_nan(const Number& number) { return std::isnan(number.real()) || std::isnan(number.imag()); }
bool is_finite(const Number& number) { return std::isfinite(number.real()) && std::isfinite(number.imag()); }

} // namespace

void Differences::note_mismatch(bool outside) {
  ++m_not_equal;
  if (!m_first_not_equal)
    m_first_not_equal = m_elements;
  if (!outside)
    return;
  ++m_outside;
  if (!m_first_outside)
    m_first_outside = m_elements;
}

void Differences::add(Number run, Number reference) {
  const bool run_nan = is_nan(run);
  const bool reference_nan = is_nan(reference);
  m_nan_run += run_nan ? 1 : 0;
  m_nan_reference += reference_nan ? 1 : 0;
  if (run_nan != reference_nan) {
    m_nan_pattern_differs = true;
    note_mismatch(true);
  } else if (!run_nan && (!is_finite(run) || !is_finite(reference))) {
    if (run != reference) {
      ++m_infinite;
      note_mismatch(true);
    }
  } else if (!run_nan) {
    add_distance(std::abs(run - reference), std::abs(reference));
    return;
  }
  ++m_elements;
}

void Differences::add_distance(double distance, double size) {
  // A distance beyond what a double holds is infinite: it stays a mismatch, but not a number to show.
  if (std::isfinite(distance))
    m_max_abs = std::max(m_max_abs.value_or(0), distance);
  if (std::isfinite(distance) && size > 0 && std::isfinite(distance / size))
    m_max_rel = std::max(m_max_rel.value_or(0), distance / size);
  const double limit = m_allowed.absolute + m_allowed.relative * size;
  if (!(distance <= limit))
    note_mismatch(!(distance <= k_relaxed_factor * limit));
  ++m_elements;
}

void Differences::add_exact(bool equal) {
  if (!equal)
    note_mismatch(true);
  ++m_elements;
}

void Differences::write_to(OutputPair& pair) const {
  pair.elements = m_elements;
  pair.max_abs = m_max_abs;
  pair.max_rel = m_max_rel;
  pair.nan_run = m_nan_run;
  pair.nan_reference = m_nan_reference;
  pair.nan_pattern_differs = m_nan_pattern_differs;
  pair.status = m_outside > 0 ? OutputStatus::outside : m_not_equal > 0 ? OutputStatus::relaxed : OutputStatus::equal;
  pair.mismatches = m_outside > 0 ? m_outside : m_not_equal;
  pair.first_index = m_outside > 0 ? m_first_outside : m_first_not_equal;
  pair.tolerance_abs = m_allowed.absolute;
  pair.tolerance_rel = m_allowed.relative;
  pair.tolerance_source = m_allowed.source();
  if (m_infinite > 0)
    pair.detail = "infinite on one side, or of the other sign, at " + std::to_string(m_infinite) + " elements";
  else if (m_nan_pattern_differs)
    pair.detail = "not a number (NaN) in other places than in the reference";
  else if (m_nan_run > 0)
    pair.detail = "not a number (NaN) on both sides at " + std::to_string(m_nan_run) + " elements";
}

} // namespace remotemac::compare
