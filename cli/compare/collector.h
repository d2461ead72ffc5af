#pragma once
// Collects the pairs of outputs. Counts all, keeps a bounded number: what differs is kept before what is alike. Not thread-safe.
#include "common/evidence.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace remotemac::compare {

inline constexpr std::size_t k_max_outputs = 2000;

class Collector {
public:
  void add(OutputPair pair);
  // Puts pairs (in the order of add), outputs_total and counts into `comparison`. Call once.
  void write_to(Comparison& comparison);

private:
  using Numbered = std::pair<std::uint64_t, OutputPair>;
  std::array<std::vector<Numbered>, 3> m_kept; // by how much a reader needs to see them
  std::map<std::string, std::uint64_t> m_counts;
  std::uint64_t m_total = 0;
};

} // namespace remotemac::compare
