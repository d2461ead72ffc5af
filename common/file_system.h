#pragma once
// The disk as a dependency, for code whose behaviour on failing disks is tested (uploader, workspace, job store, audit log).
// Paths are absolute. All calls block; safe from several threads. Errors: io, disk_full; messages name the path.
#include "common/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

enum class EntryKind { file, directory, symlink, other };

struct DirEntry {
  std::string name;
  EntryKind kind = EntryKind::other;
};

struct FileStat {
  EntryKind kind = EntryKind::other;
  std::uint64_t size_bytes = 0;
  bool executable = false;
  std::int64_t modified_s = 0; // seconds since 1970
};

class FileSystem {
public:
  virtual ~FileSystem() = default;
  // Whole file; error io when it is larger than max_bytes.
  [[nodiscard]] virtual Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) = 0;
  [[nodiscard]] virtual Result<std::string> read_range(const std::filesystem::path& path, std::uint64_t offset, std::size_t max_bytes) = 0;
  // Temp file in the same folder, fsync, rename, fsync of the folder: after a crash the old or the new content, never a part.
  [[nodiscard]] virtual Result<void> write_atomic(const std::filesystem::path& path, std::string_view content, int mode) = 0;
  // As write_atomic without flushing: safe against a crash of the program, not against a loss of power; for many files, followed by
  // one sync_all(). The default does the slower, safer thing.
  [[nodiscard]] virtual Result<void> write_unsynced(const std::filesystem::path& path, std::string_view content, int mode) {
    return write_atomic(path, content, mode);
  }
  // Flushes everything written so far to the file system that holds `path` (syncfs; one call for any number of files).
  [[nodiscard]] virtual Result<void> sync_all(const std::filesystem::path&) { return ok(); }
  // Appends without flushing. Creates the file (mode 0600).
  [[nodiscard]] virtual Result<void> append(const std::filesystem::path& path, std::string_view content) { return append_synced(path, content); }
  // Appends and fsyncs. Creates the file (mode 0600).
  [[nodiscard]] virtual Result<void> append_synced(const std::filesystem::path& path, std::string_view content) = 0;
  // Does not follow symlinks. Error io with "does not exist" when missing; see exists().
  [[nodiscard]] virtual Result<FileStat> stat(const std::filesystem::path& path) = 0;
  [[nodiscard]] virtual bool exists(const std::filesystem::path& path) = 0;
  [[nodiscard]] virtual Result<std::vector<DirEntry>> list(const std::filesystem::path& path) = 0; // sorted by name
  [[nodiscard]] virtual Result<void> make_dirs(const std::filesystem::path& path) = 0;             // mode 0700
  [[nodiscard]] virtual Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  [[nodiscard]] virtual Result<void> remove_tree(const std::filesystem::path& path) = 0; // also makes read-only folders writable; fine if missing
  // Copy by clonefile / reflink where the file system can, else by bytes; fails when `to` exists. Result has `mode`.
  [[nodiscard]] virtual Result<void> clone_file(const std::filesystem::path& from, const std::filesystem::path& to, int mode) = 0;
  [[nodiscard]] virtual Result<void> set_mode(const std::filesystem::path& path, int mode) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> free_bytes(const std::filesystem::path& path) = 0;
};

class PosixFileSystem final : public FileSystem {
public:
  [[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) override;
  [[nodiscard]] Result<std::string> read_range(const std::filesystem::path& path, std::uint64_t offset, std::size_t max_bytes) override;
  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path& path, std::string_view content, int mode) override;
  [[nodiscard]] Result<void> write_unsynced(const std::filesystem::path& path, std::string_view content, int mode) override;
  [[nodiscard]] Result<void> sync_all(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> append(const std::filesystem::path& path, std::string_view content) override;
  [[nodiscard]] Result<void> append_synced(const std::filesystem::path& path, std::string_view content) override;
  [[nodiscard]] Result<FileStat> stat(const std::filesystem::path& path) override;
  [[nodiscard]] bool exists(const std::filesystem::path& path) override;
  [[nodiscard]] Result<std::vector<DirEntry>> list(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> make_dirs(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  [[nodiscard]] Result<void> remove_tree(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> clone_file(const std::filesystem::path& from, const std::filesystem::path& to, int mode) override;
  [[nodiscard]] Result<void> set_mode(const std::filesystem::path& path, int mode) override;
  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::filesystem::path& path) override;
};

} // namespace remotemac
