#pragma once
// Opening files of a project by descriptor, never by a path that could be bent: below the root, no symlinks in any part, no other file
// system (openat2). Linux only, as is the workstation side of the product. Thread-safe.
#include "common/fd.h"
#include "common/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::policies {

// Everything that tells one state of a file from another.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t links = 0;
  bool executable = false;
  bool regular = false;
  bool operator==(const FileIdentity&) const = default;
};

[[nodiscard]] Result<UniqueFd> open_root(const std::filesystem::path& root);
[[nodiscard]] Result<UniqueFd> open_below(int root, const std::string& path);
[[nodiscard]] Result<FileIdentity> identity_of(int fd);
// The whole content; error changed when the file is not `expected` before and after reading.
[[nodiscard]] Result<std::vector<std::uint8_t>> read_whole(int fd, const FileIdentity& expected);

} // namespace remotemac::policies
