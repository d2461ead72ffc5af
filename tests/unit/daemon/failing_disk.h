#pragma once
// A real disk that fails at a chosen change: the n-th call that would change something. It records what was changed. After a crash every
// further change fails too, as if the machine were gone; reading goes on, so that a test can look at what is left. It can also be held
// at a change, as a slow disk would be. Changes may come from several threads.
#include "common/file_system.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::daemon {

class FailingDisk final : public FileSystem {
public:
  enum class Then { recovers, stays_dead };
  // The change number `at` (from 1) fails with disk_full; 0 = never.
  void fail_at(std::size_t at, Then then) {
    const std::lock_guard lock(m_mutex);
    m_count = 0;
    m_at = at;
    m_then = then;
    m_changes.clear();
  }
  // Every change whose description ("clone a.py", "remove .discarded-j...") contains `words` waits from now on, until release().
  void hold(const std::string& words);
  // Waits until a change is being held; false at the deadline.
  [[nodiscard]] bool is_holding(std::chrono::seconds limit);
  void release();
  // Every such change fails with io until told otherwise ("").
  void refuse(const std::string& words);
  // What free_bytes() says from now on; while nobody else uses the disk.
  void set_free(std::optional<std::uint64_t> bytes) { m_free = bytes; }
  [[nodiscard]] std::size_t count() const { return m_count; }
  [[nodiscard]] const std::vector<std::string>& changes() const { return m_changes; }

  [[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) override { return m_disk.read_file(path, max_bytes); }
  [[nodiscard]] Result<std::string> read_range(const std::filesystem::path& path, std::uint64_t offset, std::size_t max_bytes) override {
    return m_disk.read_range(path, offset, max_bytes);
  }
  [[nodiscard]] Result<FileStat> stat(const std::filesystem::path& path) override { return m_disk.stat(path); }
  [[nodiscard]] bool exists(const std::filesystem::path& path) override { return m_disk.exists(path); }
  [[nodiscard]] Result<std::vector<DirEntry>> list(const std::filesystem::path& path) override { return m_disk.list(path); }
  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::filesystem::path& path) override { return m_free ? Result<std::uint64_t>(*m_free) : m_disk.free_bytes(path); }

  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path& path, std::string_view content, int mode) override;
  [[nodiscard]] Result<void> write_unsynced(const std::filesystem::path& path, std::string_view content, int mode) override;
  [[nodiscard]] Result<void> sync_all(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> append(const std::filesystem::path& path, std::string_view content) override;
  [[nodiscard]] Result<void> append_synced(const std::filesystem::path& path, std::string_view content) override;
  [[nodiscard]] Result<void> make_dirs(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  [[nodiscard]] Result<void> remove_tree(const std::filesystem::path& path) override;
  [[nodiscard]] Result<void> clone_file(const std::filesystem::path& from, const std::filesystem::path& to, int mode) override;
  [[nodiscard]] Result<void> set_mode(const std::filesystem::path& path, int mode) override;

private:
  [[nodiscard]] Result<void> change(const char* what, const std::filesystem::path& path);
  PosixFileSystem m_disk;
  std::optional<std::uint64_t> m_free;
  std::mutex m_mutex; // for the following
  std::condition_variable m_changed;
  std::string m_held;    // "" = none
  std::string m_refused; // "" = none
  std::size_t m_holding = 0;
  std::size_t m_count = 0;
  std::size_t m_at = 0;
  Then m_then = Then::recovers;
  std::vector<std::string> m_changes;
};

} // namespace remotemac::daemon
