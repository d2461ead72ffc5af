#include "tests/unit/daemon/failing_disk.h"

namespace remotemac::daemon {
namespace fs = std::filesystem;

void FailingDisk::hold(const std::string& words) {
  const std::lock_guard lock(m_mutex);
  m_held = words;
}

void FailingDisk::refuse(const std::string& words) {
  const std::lock_guard lock(m_mutex);
  m_refused = words;
}

bool FailingDisk::is_holding(std::chrono::seconds limit) {
  std::unique_lock lock(m_mutex);
  return m_changed.wait_for(lock, limit, [this] { return m_holding > 0; });
}

void FailingDisk::release() {
  hold("");
  m_changed.notify_all();
}

Result<void> FailingDisk::change(const char* what, const fs::path& path) {
  std::unique_lock lock(m_mutex);
  const std::string said = std::string(what) + " " + path.filename().string();
  if (!m_held.empty() && said.find(m_held) != std::string::npos) {
    ++m_holding;
    m_changed.notify_all();
    m_changed.wait_for(lock, std::chrono::seconds(120), [&] { return m_held.empty(); });
    --m_holding;
  }
  if (!m_refused.empty() && said.find(m_refused) != std::string::npos)
    return Error(ErrorCode::io, "made to refuse: " + said);
  ++m_count;
  const bool fails = m_at != 0 && (m_count == m_at || (m_count > m_at && m_then == Then::stays_dead));
  if (fails)
    return Error(ErrorCode::disk_full, "made to fail: " + said);
  m_changes.push_back(said);
  return ok();
}

Result<void> FailingDisk::write_atomic(const fs::path& path, std::string_view content, int mode) {
  RM_TRY(change("write", path));
  return m_disk.write_atomic(path, content, mode);
}
Result<void> FailingDisk::write_unsynced(const fs::path& path, std::string_view content, int mode) {
  RM_TRY(change("write", path));
  return m_disk.write_unsynced(path, content, mode);
}
Result<void> FailingDisk::sync_all(const fs::path& path) {
  RM_TRY(change("sync", path));
  return m_disk.sync_all(path);
}
// An append that fails leaves half of it behind: the worst that a disk does.
Result<void> FailingDisk::append(const fs::path& path, std::string_view content) {
  Result<void> may = change("append", path);
  const Result<void> done = m_disk.append(path, may ? content : content.substr(0, content.size() / 2));
  return may ? done : may;
}
Result<void> FailingDisk::append_synced(const fs::path& path, std::string_view content) { return append(path, content); }
Result<void> FailingDisk::make_dirs(const fs::path& path) {
  RM_TRY(change("make", path));
  return m_disk.make_dirs(path);
}
Result<void> FailingDisk::rename(const fs::path& from, const fs::path& to) {
  RM_TRY(change("rename to", to));
  return m_disk.rename(from, to);
}
Result<void> FailingDisk::remove_tree(const fs::path& path) {
  RM_TRY(change("remove", path));
  return m_disk.remove_tree(path);
}
Result<void> FailingDisk::clone_file(const fs::path& from, const fs::path& to, int mode) {
  RM_TRY(change("clone", to));
  return m_disk.clone_file(from, to, mode);
}
Result<void> FailingDisk::set_mode(const fs::path& path, int mode) {
  RM_TRY(change("mode", path));
  return m_disk.set_mode(path, mode);
}

} // namespace remotemac::daemon
