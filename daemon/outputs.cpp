#include "daemon/outputs.h"

#include "common/text.h"

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;
constexpr std::size_t k_max_files = 10'000;
constexpr int k_max_depth = 64;

// What lies there, reached through real folders only.
EntryKind kind_below(FileSystem& disk, const fs::path& tree, const RelPath& name, std::uint64_t& size_bytes) {
  fs::path at = tree;
  EntryKind kind = EntryKind::directory;
  for (const std::string& part : name.parts()) {
    if (kind != EntryKind::directory)
      return EntryKind::other;
    at /= part;
    const Result<FileStat> found = disk.stat(at);
    if (!found)
      return EntryKind::other;
    kind = found->kind;
    size_bytes = found->size_bytes;
  }
  return kind;
}

class Collector {
public:
  Collector(FileSystem& disk, const fs::path& tree, const fs::path& destination, std::uint64_t max_bytes) : m_disk(disk), m_tree(tree), m_destination(destination), m_max(max_bytes) {}

  Result<void> take(const RelPath& name, int depth) {
    std::uint64_t size = 0;
    switch (kind_below(m_disk, m_tree, name, size)) {
    case EntryKind::file: return take_file(name, size);
    case EntryKind::directory: return take_folder(name, depth);
    default: m_out.missing.push_back(name.text()); return ok();
    }
  }
  CollectedOutputs result() && { return std::move(m_out); }

private:
  Result<void> take_file(const RelPath& name, std::uint64_t size) {
    if (m_files >= k_max_files || size > m_max - m_out.size_bytes) {
      m_out.over_limit.push_back(name.text());
      return ok();
    }
    const fs::path to = m_destination / name.text();
    RM_TRY(m_disk.make_dirs(to.parent_path()));
    RM_TRY(m_disk.set_mode(m_tree / name.text(), 0600));
    RM_TRY(m_disk.rename(m_tree / name.text(), to));
    m_out.size_bytes += size;
    ++m_files;
    return ok();
  }

  Result<void> take_folder(const RelPath& name, int depth) {
    if (depth > k_max_depth)
      return ok();
    RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(m_tree / name.text()));
    for (const DirEntry& entry : entries) {
      const Result<RelPath> below = RelPath::create(name.text() + "/" + entry.name);
      if (!below || (entry.kind != EntryKind::file && entry.kind != EntryKind::directory))
        continue; // could not be asked for by name, or is a link
      RM_TRY(take(*below, depth + 1));
    }
    return ok();
  }

  FileSystem& m_disk;
  const fs::path& m_tree;
  const fs::path& m_destination;
  std::uint64_t m_max;
  std::size_t m_files = 0;
  CollectedOutputs m_out;
};
} // namespace

Result<CollectedOutputs> collect_outputs(FileSystem& disk, const fs::path& tree, const std::vector<RelPath>& names, const fs::path& destination, std::uint64_t max_bytes) {
  Collector collector(disk, tree, destination, max_bytes);
  for (const RelPath& name : names)
    RM_TRY_WHILE("keeping the output '" + name.text() + "'", collector.take(name, 0));
  return std::move(collector).result();
}

Result<bool> collect_file(FileSystem& disk, const fs::path& from, const fs::path& to, std::uint64_t max_bytes) {
  const Result<FileStat> found = disk.stat(from);
  if (!found || found->kind != EntryKind::file)
    return false;
  if (found->size_bytes > max_bytes)
    return Error(ErrorCode::io, "it has " + human_bytes(found->size_bytes) + ", more than the " + human_bytes(max_bytes) + " that are kept");
  RM_TRY(disk.make_dirs(to.parent_path()));
  RM_TRY(disk.set_mode(from, 0600));
  RM_TRY(disk.rename(from, to));
  return true;
}

} // namespace remotemac::daemon
