#include "daemon/snapshot_store.h"

#include "common/text.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;
constexpr std::size_t k_manifest_max_bytes = std::size_t{256} << 20;

// Every folder of the manifest, parents before children.
std::set<std::string> folders_of(const Manifest& manifest) {
  std::set<std::string> out;
  for (const ManifestFile& file : manifest.files) {
    const std::string& path = file.path.text();
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      out.insert(path.substr(0, slash));
  }
  return out;
}

int mode_of(const ManifestFile& file) { return file.exec == Exec::yes ? 0555 : 0444; }
} // namespace

bool SnapshotStore::has(const Digest& digest) const {
  const Result<FileStat> found = m_disk.stat(folder(digest));
  return found && found->kind == EntryKind::directory;
}

std::vector<Digest> SnapshotStore::missing(const Manifest& manifest) const {
  std::vector<Digest> out;
  std::unordered_set<Digest> seen;
  for (const ManifestFile& file : manifest.files) {
    for (const ChunkRef& chunk : file.chunks) {
      if (seen.insert(chunk.digest).second && !m_blobs.has(chunk.digest, chunk.size_bytes))
        out.push_back(chunk.digest);
    }
  }
  return out;
}

Result<void> SnapshotStore::build_file(const ManifestFile& file, const fs::path& path) {
  if (file.chunks.size() == 1)
    return m_disk.clone_file(m_blobs.path_of(file.chunks[0].digest), path, mode_of(file));
  if (m_disk.exists(path))
    return Error(ErrorCode::refused, "two names of the manifest became one");
  if (file.chunks.empty())
    return m_disk.write_unsynced(path, "", mode_of(file));
  for (const ChunkRef& chunk : file.chunks) {
    RM_ASSIGN(const std::string content, m_blobs.read(chunk.digest));
    RM_TRY(m_disk.append(path, content));
  }
  return m_disk.set_mode(path, mode_of(file));
}

Result<void> SnapshotStore::build(const Manifest& manifest, const fs::path& tree) {
  RM_TRY(m_disk.remove_tree(tree));
  RM_TRY(m_disk.make_dirs(tree));
  for (const std::string& each : folders_of(manifest))
    RM_TRY(m_disk.make_dirs(tree / each));
  for (const ManifestFile& file : manifest.files) {
    for (const ChunkRef& chunk : file.chunks) {
      if (!m_blobs.has(chunk.digest, chunk.size_bytes))
        return Error(ErrorCode::corrupt, "the chunk " + chunk.digest.hex().substr(0, 12) + " is not on this host", "run the same command again: the chunk is sent anew");
    }
    RM_TRY_WHILE("building '" + file.path.text() + "'", build_file(file, tree / file.path.text()));
  }
  return ok();
}

// Read-only folders, the manifest beside the tree, one flush for everything, and only then the final name.
Result<void> SnapshotStore::seal(const Manifest& manifest, const fs::path& tree) {
  const std::set<std::string> folders = folders_of(manifest);
  for (auto it = folders.rbegin(); it != folders.rend(); ++it)
    RM_TRY(m_disk.set_mode(tree / *it, 0555));
  RM_TRY(m_disk.set_mode(tree, 0555));
  const std::string canonical = manifest.canonical();
  const Digest digest = sha256(canonical);
  RM_TRY(m_disk.write_atomic(manifest_file(digest), canonical, 0400));
  RM_TRY(m_disk.sync_all(m_root));
  return m_disk.rename(tree, folder(digest));
}

Result<SnapshotSummary> SnapshotStore::commit(const Manifest& manifest) {
  const Digest digest = manifest.digest();
  const SnapshotSummary summary{manifest.files.size(), manifest.total_bytes()};
  if (has(digest))
    return summary;
  const fs::path tree = temp(digest);
  Result<void> done = build(manifest, tree);
  if (done) {
    const Result<TreeCheck> checked = check_tree(m_disk, tree, manifest);
    if (!checked) {
      done = checked.error();
    } else if (checked->damaged != nullptr) {
      done = Error(ErrorCode::corrupt, "'" + checked->damaged->path.text() + "' did not arrive on the disk as it was sent", "run the same command again: damaged chunks are sent anew");
      for (const ChunkRef& chunk : checked->damaged->chunks) {
        if (const Result<std::string> content = m_blobs.read(chunk.digest); !content)
          done = content.error();
      }
    }
  }
  if (done)
    done = seal(manifest, tree);
  if (!done) {
    (void)m_disk.remove_tree(tree).has_value(); // a left-over is removed by the next commit or start
    return std::move(done).error_while("building the snapshot " + digest.hex().substr(0, 12));
  }
  return summary;
}

Result<Manifest> SnapshotStore::manifest(const Digest& digest) {
  RM_ASSIGN_WHILE("reading the manifest of a snapshot", const std::string text, m_disk.read_file(manifest_file(digest), k_manifest_max_bytes));
  if (sha256(text) != digest)
    return Error(ErrorCode::corrupt, "the stored manifest " + digest.hex().substr(0, 12) + " is damaged", "push the project again under a changed file, or remove the state folder's snapshots");
  return parse_manifest(text);
}

Result<void> SnapshotStore::copy_to(const Digest& digest, const fs::path& to) {
  RM_ASSIGN(const Manifest files, manifest(digest));
  RM_TRY(m_disk.make_dirs(to));
  for (const std::string& each : folders_of(files))
    RM_TRY(m_disk.make_dirs(to / each));
  for (const ManifestFile& file : files.files)
    RM_TRY(m_disk.clone_file(folder(digest) / file.path.text(), to / file.path.text(), file.exec == Exec::yes ? 0755 : 0644));
  return ok();
}

Result<std::vector<Digest>> SnapshotStore::list() {
  RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_root));
  std::vector<Digest> out;
  for (const DirEntry& entry : entries) {
    const Result<Digest> digest = Digest::from_hex(entry.name);
    if (digest && entry.kind == EntryKind::directory)
      out.push_back(*digest);
  }
  return out;
}

Result<void> SnapshotStore::touch(const Manifest& manifest) {
  const std::string canonical = manifest.canonical();
  return m_disk.write_atomic(manifest_file(sha256(canonical)), canonical, 0400);
}

std::int64_t SnapshotStore::committed_s(const Digest& digest) const {
  const Result<FileStat> found = m_disk.stat(manifest_file(digest));
  return found ? found->modified_s : 0;
}

Result<void> SnapshotStore::remove(const Digest& digest) {
  RM_TRY(m_disk.remove_tree(gone(digest))); // of a removal that was cut short
  if (has(digest))
    RM_TRY(m_disk.rename(folder(digest), gone(digest)));
  RM_TRY(m_disk.remove_tree(manifest_file(digest)));
  return m_disk.remove_tree(gone(digest));
}

Result<void> SnapshotStore::clean_up() {
  RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_root));
  for (const DirEntry& entry : entries) {
    const bool committed = Digest::from_hex(entry.name).has_value();
    const bool manifest_of_one = entry.name.size() == 69 && entry.name.ends_with(".json") && m_disk.exists(m_root / entry.name.substr(0, 64));
    if (!committed && !manifest_of_one)
      RM_TRY(m_disk.remove_tree(m_root / entry.name));
  }
  return ok();
}

void SnapshotStore::pin(const std::shared_ptr<const Manifest>& manifest) {
  const std::lock_guard lock(m_mutex);
  std::erase_if(m_pinned, [](const auto& each) { return each.expired(); });
  m_pinned.push_back(manifest);
}

std::vector<std::shared_ptr<const Manifest>> SnapshotStore::pinned() {
  const std::lock_guard lock(m_mutex);
  std::vector<std::shared_ptr<const Manifest>> out;
  for (const auto& each : m_pinned) {
    if (auto held = each.lock())
      out.push_back(std::move(held));
  }
  return out;
}

} // namespace remotemac::daemon
