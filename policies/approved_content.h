#pragma once
// The inside of an ApprovedSet, for the gate that fills it. Internal to policies.
#include "policies/approved_set.h"
#include "policies/file_reader.h"

#include <map>
#include <mutex>
#include <unordered_map>

namespace remotemac::policies {

struct ApprovedSet::Content {
  struct Place {
    std::size_t file = 0; // in manifest.files
    std::uint64_t offset = 0;
    std::uint32_t size_bytes = 0;
  };
  Manifest manifest;
  UniqueFd root;
  std::unordered_map<Digest, Place> chunks;
  std::map<std::string, std::string> generated; // path -> bytes, for files that are not on disk

  // The file that was read last stays open: large files have many chunks.
  mutable std::mutex mutex;
  mutable std::size_t open_file = std::size_t(-1);
  mutable UniqueFd open_fd;
};

} // namespace remotemac::policies
