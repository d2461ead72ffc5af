#include "policies/merkle.h"

#include <gtest/gtest.h>

namespace remotemac::policies {
namespace {
// The definition of RFC 6962, section 2.1, read off directly: split at the largest power of two below n.
Digest slow_root(const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
  if (to - from == 0)
    return sha256(std::string_view());
  if (to - from == 1)
    return leaf_hash(lines[from]);
  std::size_t k = 1;
  while (k * 2 < to - from)
    k *= 2;
  const Digest left = slow_root(lines, from, from + k);
  const Digest right = slow_root(lines, from + k, to);
  std::string node = "\x01";
  node.append(reinterpret_cast<const char*>(left.bytes.data()), 32);
  node.append(reinterpret_cast<const char*>(right.bytes.data()), 32);
  return sha256(node);
}

TEST(Merkle, AgreesWithTheDefinitionForEverySize) {
  std::vector<std::string> lines;
  MerkleTree tree;
  EXPECT_EQ(tree.root(), slow_root(lines, 0, 0));
  for (int i = 0; i < 70; ++i) {
    lines.push_back("line " + std::to_string(i));
    tree.add(leaf_hash(lines.back()));
    EXPECT_EQ(tree.root(), slow_root(lines, 0, lines.size())) << i;
    EXPECT_EQ(tree.size(), lines.size());
  }
}

// Test vectors that are published with RFC 6962 implementations: the empty tree and a leaf of nothing.
TEST(Merkle, PublishedValues) {
  EXPECT_EQ(MerkleTree().root().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(leaf_hash("").hex(), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}
} // namespace
} // namespace remotemac::policies
