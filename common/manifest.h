#pragma once
// What a snapshot holds: plain values, agreed between both sides (docs/protocol.md, "Manifest"). Sorted by path bytes.
#include "common/digest.h"
#include "common/rel_path.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace remotemac {

struct ChunkRef {
  Digest digest;
  std::uint32_t size_bytes = 0;
};

enum class Exec { no, yes };

struct ManifestFile {
  RelPath path;
  std::uint64_t size_bytes = 0;
  Exec exec = Exec::no;
  std::vector<ChunkRef> chunks;
};

struct Manifest {
  std::vector<ManifestFile> files;

  // Canonical JSON; the SHA-256 of exactly these bytes is the snapshot's name.
  [[nodiscard]] std::string canonical() const;
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] std::uint64_t total_bytes() const;
};

// From untrusted canonical JSON: sorted, unique also under folding, sizes add up, <= 2 000 000 files.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

} // namespace remotemac
