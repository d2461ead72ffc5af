#include "policies/merkle.h"

#include <array>

namespace remotemac::policies {
namespace {
Digest node_hash(const Digest& left, const Digest& right) {
  std::array<std::uint8_t, 65> bytes{1};
  std::copy(left.bytes.begin(), left.bytes.end(), bytes.begin() + 1);
  std::copy(right.bytes.begin(), right.bytes.end(), bytes.begin() + 33);
  return sha256(std::span<const std::uint8_t>(bytes));
}
} // namespace

Digest leaf_hash(std::string_view line) {
  Sha256 hash;
  const std::array<std::uint8_t, 1> prefix{0};
  hash.update(std::span<const std::uint8_t>(prefix));
  hash.update(line);
  return hash.finish();
}

void MerkleTree::add(const Digest& leaf) {
  m_peaks.push_back(leaf);
  // As many trailing peaks of equal height as the old size has trailing one bits.
  for (std::uint64_t bits = m_size; (bits & 1u) != 0; bits >>= 1) {
    const Digest right = m_peaks.back();
    m_peaks.pop_back();
    m_peaks.back() = node_hash(m_peaks.back(), right);
  }
  ++m_size;
}

Digest MerkleTree::root() const {
  if (m_peaks.empty())
    return sha256(std::string_view());
  Digest out = m_peaks.back();
  for (auto it = m_peaks.rbegin() + 1; it != m_peaks.rend(); ++it)
    out = node_hash(*it, out);
  return out;
}

} // namespace remotemac::policies
