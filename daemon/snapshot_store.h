#pragma once
// Immutable project snapshots, built afresh from blobs: snapshots/<digest>/ (the tree) and snapshots/<digest>.json (its manifest).
// A snapshot counts only when its folder has its final name; until then it is <digest>.tmp and worth nothing. There is no update
// in place and no delete propagation. Safe from several threads, but what changes one and the same snapshot (commit, remove) must
// not run at the same time; whoever removes chunks minds pinned().
#include "common/file_system.h"
#include "common/manifest.h"
#include "daemon/blob_store.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace remotemac::daemon {

struct SnapshotSummary {
  std::uint64_t files = 0;
  std::uint64_t size_bytes = 0;
};

class SnapshotStore {
public:
  SnapshotStore(FileSystem& disk, BlobStore& blobs, std::filesystem::path root) : m_disk(disk), m_blobs(blobs), m_root(std::move(root)) {}

  [[nodiscard]] bool has(const Digest& digest) const;
  // The chunks that the blob store lacks, each once, in manifest order.
  [[nodiscard]] std::vector<Digest> missing(const Manifest& manifest) const;
  // Builds, lists again and compares names as listed, kinds, sizes, exec bits and digests, flushes, and puts into place. After an
  // error nothing of it is visible and a retry starts afresh. Error corrupt: a chunk was missing or damaged; it was removed.
  [[nodiscard]] Result<SnapshotSummary> commit(const Manifest& manifest);
  [[nodiscard]] Result<Manifest> manifest(const Digest& digest);
  [[nodiscard]] std::filesystem::path folder(const Digest& digest) const { return m_root / digest.hex(); }
  // A fresh writable copy; `to` must not exist. Error io and friends; a part may remain in `to` then.
  [[nodiscard]] Result<void> copy_to(const Digest& digest, const std::filesystem::path& to);
  [[nodiscard]] Result<std::vector<Digest>> list();
  // A committed snapshot is wanted again: its grace starts anew.
  [[nodiscard]] Result<void> touch(const Manifest& manifest);
  // When it was put into place or touched, seconds since 1970; 0 when it cannot be told.
  [[nodiscard]] std::int64_t committed_s(const Digest& digest) const;
  [[nodiscard]] Result<void> remove(const Digest& digest);
  // Removes what a crash left half-made. Only while nobody builds.
  [[nodiscard]] Result<void> clean_up();

  // A manifest on offer keeps its chunks from being collected for as long as somebody holds the pointer.
  void pin(const std::shared_ptr<const Manifest>& manifest);
  [[nodiscard]] std::vector<std::shared_ptr<const Manifest>> pinned();

private:
  [[nodiscard]] Result<void> build(const Manifest& manifest, const std::filesystem::path& tree);
  [[nodiscard]] Result<void> build_file(const ManifestFile& file, const std::filesystem::path& path);
  [[nodiscard]] Result<void> seal(const Manifest& manifest, const std::filesystem::path& tree);
  // Away from temp(): a removal that failed must not be what the next build starts with.
  [[nodiscard]] std::filesystem::path gone(const Digest& digest) const { return m_root / (digest.hex() + ".gone"); }
  [[nodiscard]] std::filesystem::path temp(const Digest& digest) const { return m_root / (digest.hex() + ".tmp"); }
  [[nodiscard]] std::filesystem::path manifest_file(const Digest& digest) const { return m_root / (digest.hex() + ".json"); }

  FileSystem& m_disk;
  BlobStore& m_blobs;
  std::filesystem::path m_root;
  std::mutex m_mutex; // for m_pinned
  std::vector<std::weak_ptr<const Manifest>> m_pinned;
};

// Compares a tree with a manifest: exact names as the file system lists them, kinds, sizes, exec bits, digests of all content.
// Gives the first file whose content differs as `damaged`, other differences as an error.
struct TreeCheck {
  const ManifestFile* damaged = nullptr;
};
[[nodiscard]] Result<TreeCheck> check_tree(FileSystem& disk, const std::filesystem::path& tree, const Manifest& manifest);

} // namespace remotemac::daemon
