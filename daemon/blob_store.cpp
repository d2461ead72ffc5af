#include "daemon/blob_store.h"

namespace remotemac::daemon {

std::filesystem::path BlobStore::path_of(const Digest& digest) const {
  const std::string hex = digest.hex();
  return m_root / hex.substr(0, 2) / hex;
}

bool BlobStore::has(const Digest& digest, std::uint64_t size_bytes) const {
  const Result<FileStat> found = m_disk.stat(path_of(digest));
  return found && found->kind == EntryKind::file && found->size_bytes == size_bytes;
}

Result<void> BlobStore::need_folder(const Digest& digest) {
  bool& known = m_folder_known[digest.bytes[0]];
  if (!known)
    RM_TRY(m_disk.make_dirs(path_of(digest).parent_path()));
  known = true;
  return ok();
}

Result<BlobStore::Stored> BlobStore::put(const Digest& digest, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > k_blob_max_bytes)
    return Error(ErrorCode::protocol, "a chunk is larger than 8 MiB");
  if (sha256(bytes) != digest)
    return Error(ErrorCode::protocol, "a chunk arrived whose bytes are not those that its digest " + digest.hex().substr(0, 12) + " names");
  if (has(digest, bytes.size()))
    return Stored::duplicate;
  RM_TRY(need_folder(digest));
  RM_TRY_WHILE("storing a chunk", m_disk.write_unsynced(path_of(digest), std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), 0400));
  return Stored::fresh;
}

Result<std::string> BlobStore::read(const Digest& digest) {
  RM_ASSIGN(std::string content, m_disk.read_file(path_of(digest), k_blob_max_bytes));
  if (sha256(content) == digest)
    return content;
  RM_TRY(remove(digest));
  return Error(ErrorCode::corrupt, "the stored chunk " + digest.hex().substr(0, 12) + " was damaged and has been removed", "run the same command again: the chunk is sent anew");
}

Result<void> BlobStore::remove(const Digest& digest) { return m_disk.remove_tree(path_of(digest)); }

Result<void> BlobStore::visit(std::int64_t stale_before_s, const std::function<Result<void>(const Digest&, std::int64_t)>& visitor) {
  RM_ASSIGN(const std::vector<DirEntry> folders, m_disk.list(m_root));
  for (const DirEntry& folder : folders) {
    if (folder.kind != EntryKind::directory)
      continue;
    RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_root / folder.name));
    for (const DirEntry& entry : entries) {
      const std::filesystem::path path = m_root / folder.name / entry.name;
      const Result<FileStat> found = m_disk.stat(path);
      if (!found)
        continue; // removed meanwhile
      const Result<Digest> digest = Digest::from_hex(entry.name);
      if (digest)
        RM_TRY(visitor(*digest, found->modified_s));
      else if (found->modified_s < stale_before_s)
        RM_TRY(m_disk.remove_tree(path));
    }
  }
  return ok();
}

} // namespace remotemac::daemon
