// The comparison of a built tree with its manifest; a part of SnapshotStore in a file of its own.
#include "common/text.h"
#include "daemon/snapshot_store.h"

#include <map>

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;

struct Expected {
  const ManifestFile* file = nullptr; // nullptr: a folder
};
using Folder = std::map<std::string, Expected>; // by name

// Folder path ("" is the top) -> what must lie in it.
std::map<std::string, Folder> expectations(const Manifest& manifest) {
  std::map<std::string, Folder> out;
  out[""];
  for (const ManifestFile& file : manifest.files) {
    const std::string& path = file.path.text();
    std::size_t start = 0;
    std::string parent;
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', start)) {
      out[parent].try_emplace(path.substr(start, slash - start));
      parent = path.substr(0, slash);
      start = slash + 1;
    }
    out[parent][path.substr(start)].file = &file;
  }
  return out;
}

Error differs(const std::string& what) {
  return Error(ErrorCode::refused, what, "the file system of the host does not keep names or contents as sent; use another state folder (--state-dir) or rename the files");
}

Result<void> compare_names(const std::string& where, const Folder& expected, const std::vector<DirEntry>& listed) {
  auto want = expected.begin();
  for (const DirEntry& entry : listed) {
    if (want == expected.end() || want->first != entry.name)
      return differs("the host lists '" + clean_line(where + entry.name, 300) + "', which the manifest does not name so");
    if ((want->second.file == nullptr) != (entry.kind == EntryKind::directory) || (want->second.file != nullptr && entry.kind != EntryKind::file))
      return differs("'" + clean_line(where + entry.name, 300) + "' is of another kind on the host");
    ++want;
  }
  if (want != expected.end())
    return differs("'" + clean_line(where + want->first, 300) + "' is not listed on the host");
  return ok();
}

// Chunk by chunk; together the chunks are the whole file.
Result<bool> content_matches(FileSystem& disk, const fs::path& path, const ManifestFile& file) {
  RM_ASSIGN(const FileStat found, disk.stat(path));
  if (found.size_bytes != file.size_bytes || found.executable != (file.exec == Exec::yes))
    return false;
  std::uint64_t offset = 0;
  for (const ChunkRef& chunk : file.chunks) {
    RM_ASSIGN(const std::string content, disk.read_range(path, offset, chunk.size_bytes));
    if (content.size() != chunk.size_bytes || sha256(content) != chunk.digest)
      return false;
    offset += chunk.size_bytes;
  }
  return true;
}
} // namespace

Result<TreeCheck> check_tree(FileSystem& disk, const fs::path& tree, const Manifest& manifest) {
  for (const auto& [folder, expected] : expectations(manifest)) {
    const std::string where = folder.empty() ? "" : folder + "/";
    RM_ASSIGN(const std::vector<DirEntry> listed, disk.list(folder.empty() ? tree : tree / folder));
    RM_TRY(compare_names(where, expected, listed));
    for (const auto& [name, entry] : expected) {
      if (entry.file == nullptr)
        continue;
      RM_ASSIGN(const bool matches, content_matches(disk, tree / entry.file->path.text(), *entry.file));
      if (!matches)
        return TreeCheck{entry.file};
    }
  }
  return TreeCheck{};
}

} // namespace remotemac::daemon
