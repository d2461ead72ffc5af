#pragma once
// The stores of a daemon over a disk that can be made to fail and a clock that the test sets.
#include "daemon/blob_store.h"
#include "daemon/job_store.h"
#include "daemon/snapshot_store.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/daemon/failing_disk.h"

#include <gtest/gtest.h>
#include <map>

namespace remotemac::daemon {

class FakeClock final : public Clock {
public:
  [[nodiscard]] std::chrono::system_clock::time_point now() const override { return m_now; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return m_steady; }
  void advance(std::chrono::seconds by) {
    m_now += by;
    m_steady += by;
  }

private:
  std::chrono::system_clock::time_point m_now = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point m_steady{};
};

using Files = std::map<std::string, std::string>;

class StoreFixture : public testing::Test {
protected:
  StoreFixture();
  // Cut every `chunk_bytes`.
  [[nodiscard]] static Manifest manifest_of(const Files& files, std::size_t chunk_bytes = 100);
  [[nodiscard]] Result<void> store(const Files& files, std::size_t chunk_bytes = 100);
  [[nodiscard]] Digest commit(const Files& files);
  [[nodiscard]] static JobSpec spec_of(const Digest& snapshot);
  [[nodiscard]] std::filesystem::path tree(const Digest& digest) const { return m_snapshots.folder(digest); }

  test::TempDir m_dir;
  FailingDisk m_disk;
  FakeClock m_clock;
  BlobStore m_blobs{m_disk, m_dir / "blobs"};
  SnapshotStore m_snapshots{m_disk, m_blobs, m_dir / "snapshots"};
  JobStore m_jobs{m_disk, m_clock, m_dir / "jobs", "boot-1"};
};

} // namespace remotemac::daemon
