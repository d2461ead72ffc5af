#pragma once
// Lists what lies in a project by descriptors: never through a symlink, never onto another file system. Only folders of interest are
// entered; the others are one entry. Sorted by path bytes within each folder.
#include "policies/file_reader.h"

#include <functional>

namespace remotemac::policies {

enum class WalkKind { file, folder, symlink, special, unreadable };

struct WalkEntry {
  std::string path; // raw bytes of the names, '/' separated
  WalkKind kind = WalkKind::file;
  std::string note; // for unreadable: why
  FileIdentity identity;
  bool other_file_system = false;
};

// For a folder: whether to enter it. `visit` is called for files, symlinks, special files, and for folders before their content.
using Visit = std::function<bool(const WalkEntry& entry)>;

// Error project when there are more than 2 000 000 entries or folders are nested deeper than 128.
[[nodiscard]] Result<void> walk(int root, const Visit& visit);

} // namespace remotemac::policies
