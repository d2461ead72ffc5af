#pragma once
// Content-addressed chunks: blobs/<2 digits>/<64 digits>. A blob is verified before it gets its name and never changes after.
// put() and remove() belong to one thread, the daemon's storage thread; has(), read() and visit() are safe from any: what has a name is
// whole, and a damaged chunk that read() takes away can only be asked for again.
//
// Durability: a blob is written to a temporary name and renamed, without a flush of its own, because 20 000 flushes take minutes.
// SnapshotStore::commit() flushes once before a snapshot counts. After a loss of power a blob may be missing or damaged; has()
// notices a wrong size, and commit() re-reads every byte, removes a damaged blob and asks for it again.
#include "common/digest.h"
#include "common/file_system.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace remotemac::daemon {

inline constexpr std::size_t k_blob_max_bytes = std::size_t{8} << 20;

class BlobStore {
public:
  enum class Stored { fresh, duplicate };

  BlobStore(FileSystem& disk, std::filesystem::path root) : m_disk(disk), m_root(std::move(root)) {}

  // Error protocol when the bytes are not what the digest names; disk_full and io from the disk. Nothing is kept then.
  [[nodiscard]] Result<Stored> put(const Digest& digest, std::span<const std::uint8_t> bytes);
  // Present with exactly this size; content is judged when it is used.
  [[nodiscard]] bool has(const Digest& digest, std::uint64_t size_bytes) const;
  [[nodiscard]] std::filesystem::path path_of(const Digest& digest) const;
  // Reads and verifies; error corrupt (and the blob is gone) when the content is not what the name says.
  [[nodiscard]] Result<std::string> read(const Digest& digest);
  [[nodiscard]] Result<void> remove(const Digest& digest);
  // Every blob with the time of its last change; also removes left-over temporary files older than `stale_before_s`.
  [[nodiscard]] Result<void> visit(std::int64_t stale_before_s, const std::function<Result<void>(const Digest&, std::int64_t modified_s)>& visitor);

private:
  [[nodiscard]] Result<void> need_folder(const Digest& digest);

  FileSystem& m_disk;
  std::filesystem::path m_root;
  std::array<bool, 256> m_folder_known{};
};

} // namespace remotemac::daemon
