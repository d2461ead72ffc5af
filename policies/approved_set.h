#pragma once
// What may leave: a manifest of approved files and the chunks they are made of, by digest. Only the gate can make one that holds
// anything. The sender takes only this type. Every chunk is read again from the project and hashed before it is given out, so that a
// file swapped after judging cannot leak even one chunk. Cheap to copy (shared). Thread-safe.
#include "common/manifest.h"

#include <memory>
#include <span>

namespace remotemac::policies {

class Gate;

class ApprovedSet {
public:
  ApprovedSet(); // empty: nothing may leave
  [[nodiscard]] const Manifest& manifest() const;
  // The bytes of an approved chunk. Error changed when the file no longer holds them, refused when the digest was never approved.
  [[nodiscard]] Result<std::vector<std::uint8_t>> read_chunk(const Digest& digest) const;

private:
  friend class Gate;
  struct Content;
  explicit ApprovedSet(std::shared_ptr<const Content> content);
  std::shared_ptr<const Content> m_content;
};

} // namespace remotemac::policies
