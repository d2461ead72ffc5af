#pragma once
// Merkle tree hashes over log lines (RFC 6962, section 2.1): leaf = SHA-256(0x00 || line), node = SHA-256(0x01 || left || right).
#include "common/digest.h"

#include <string_view>
#include <vector>

namespace remotemac::policies {

[[nodiscard]] Digest leaf_hash(std::string_view line);

// Grows leaf by leaf; root() is that of all leaves so far. O(log n) memory.
class MerkleTree {
public:
  void add(const Digest& leaf);
  [[nodiscard]] Digest root() const; // SHA-256 of nothing for an empty tree
  [[nodiscard]] std::uint64_t size() const { return m_size; }

private:
  std::uint64_t m_size = 0;
  std::vector<Digest> m_peaks; // of the perfect subtrees, largest first
};

} // namespace remotemac::policies
