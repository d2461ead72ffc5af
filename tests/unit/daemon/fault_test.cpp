// Every change of the disk fails once, in turn: nothing half-made is ever visible, and the next try succeeds.
#include "tests/unit/daemon/store_fixture.h"

#include <functional>

namespace remotemac::daemon {
namespace {
class FaultTest : public StoreFixture {
protected:
  Result<void> remove_job(const std::string& id) {
    RM_TRY(m_jobs.discard(id));
    RM_ASSIGN(const std::vector<std::filesystem::path> discarded, m_jobs.discarded());
    for (const std::filesystem::path& each : discarded)
      RM_TRY(m_disk.remove_tree(each));
    return ok();
  }
  // Runs `attempt` with the failure at each of its changes. `check` sees what is left after a failure; `again` must then succeed.
  void sweep(const std::function<Result<void>()>& attempt, const std::function<void()>& check, const std::function<void()>& again) {
    for (const FailingDisk::Then then : {FailingDisk::Then::recovers, FailingDisk::Then::stays_dead}) {
      for (std::size_t at = 1;; ++at) {
        SCOPED_TRACE("failure at change " + std::to_string(at) + (then == FailingDisk::Then::recovers ? "" : " and after"));
        ASSERT_LT(at, 200u);
        m_disk.fail_at(at, then);
        const Result<void> done = attempt();
        const bool reached = m_disk.count() >= at;
        m_disk.fail_at(0, then);
        if (!done) {
          EXPECT_EQ(done.error().code(), ErrorCode::disk_full) << done.error().chain();
          check();
        }
        again();
        if (HasFatalFailure())
          return;
        if (!reached)
          break;
      }
    }
  }
};

TEST_F(FaultTest, ASnapshotIsThereWholeOrNotAtAll) {
  const Files files{{"a.py", "print(1)\n"}, {"deep/b.txt", std::string(250, 'b') + std::string(30, 'c')}, {"empty", ""}, {"run.sh", "#!/bin/sh\n"}};
  const Manifest manifest = manifest_of(files);
  const Digest digest = manifest.digest();
  const auto whole = [&] {
    const auto checked = check_tree(m_disk, tree(digest), manifest);
    return checked.has_value() && checked->damaged == nullptr && m_snapshots.manifest(digest).has_value();
  };
  sweep(
      [&]() -> Result<void> {
        RM_TRY(store(files));
        RM_TRY(m_snapshots.commit(manifest));
        return ok();
      },
      [&] {
        EXPECT_TRUE(!m_snapshots.has(digest) || whole());
        EXPECT_EQ(m_snapshots.list().value().empty(), !m_snapshots.has(digest));
      },
      [&] {
        ASSERT_TRUE(m_snapshots.clean_up().has_value());
        ASSERT_TRUE(store(files).has_value());
        ASSERT_TRUE(m_snapshots.commit(manifest).has_value());
        ASSERT_TRUE(whole());
        ASSERT_TRUE(m_snapshots.remove(digest).has_value());
        for (const ManifestFile& file : manifest.files) {
          for (const ChunkRef& chunk : file.chunks)
            ASSERT_TRUE(m_blobs.remove(chunk.digest).has_value());
        }
      });
}

TEST_F(FaultTest, RemovingASnapshotNeverLeavesAHalfOneVisible) {
  const Files files{{"a.py", "print(1)\n"}, {"deep/b.txt", "b"}};
  const Manifest manifest = manifest_of(files);
  Digest digest = commit(files);
  sweep([&] { return m_snapshots.remove(digest); },
        [&] {
          if (m_snapshots.has(digest)) {
            const auto checked = check_tree(m_disk, tree(digest), manifest);
            EXPECT_TRUE(checked.has_value() && checked->damaged == nullptr);
          }
        },
        [&] {
          ASSERT_TRUE(m_snapshots.clean_up().has_value());
          digest = commit(files);
        });
}

TEST_F(FaultTest, AJobIsThereWholeOrNotAtAll) {
  sweep(
      [&]() -> Result<void> {
        RM_TRY(m_jobs.create(spec_of(Digest())));
        return ok();
      },
      [&] { EXPECT_TRUE(m_jobs.list().value().empty()) << "a job that was refused must not appear"; },
      [&] {
        ASSERT_TRUE(m_jobs.clean_up().has_value());
        ASSERT_TRUE(m_jobs.create(spec_of(Digest())).has_value());
        for (const auto found = m_jobs.list().value(); const JobRecord& each : found) {
          ASSERT_EQ(each.state, JobState::queued) << each.reason;
          ASSERT_TRUE(load_spec(m_disk, m_jobs.paths(each.job)).has_value());
          ASSERT_TRUE(remove_job(each.job).has_value());
        }
        ASSERT_TRUE(std::filesystem::is_empty(m_dir / "jobs"));
      });
}

TEST_F(FaultTest, ASubmissionThatFailedHalfwayCanBeRepeatedUnderItsKey) {
  JobSpec spec = spec_of(Digest());
  spec.submit_key = std::string(32, 'a');
  sweep(
      [&]() -> Result<void> {
        RM_TRY(m_jobs.create(spec));
        return ok();
      },
      [&] { EXPECT_FALSE(m_jobs.submitted_before(spec).value()); },
      [&] {
        const bool there = m_jobs.submitted_before(spec).value().has_value();
        ASSERT_TRUE(there || m_jobs.create(spec).has_value()); // no clean_up() in between: the daemon lives on
        const std::string id = m_jobs.submitted_before(spec).value().value();
        ASSERT_EQ(m_jobs.list().value().size(), 1u);
        ASSERT_TRUE(load_spec(m_disk, m_jobs.paths(id)).has_value());
        ASSERT_TRUE(remove_job(id).has_value());
      });
}

TEST_F(FaultTest, ARecordIsTheOldOrTheNewOneAndTheEndCanBeWrittenAgain) {
  std::string id = m_jobs.create(spec_of(Digest())).value();
  sweep([&] { return m_jobs.finish(m_jobs.record(id).value(), JobState::lost, "why"); },
        [&] {
          const auto record = m_jobs.record(id);
          ASSERT_TRUE(record.has_value());
          EXPECT_EQ(record->state, JobState::queued);
        },
        [&] {
          ASSERT_TRUE(m_jobs.finish(m_jobs.record(id).value(), JobState::lost, "why").has_value());
          ASSERT_EQ(m_jobs.record(id).value().state, JobState::lost);
          id = m_jobs.create(spec_of(Digest())).value();
        });
}

TEST_F(FaultTest, ARemovedJobIsGoneOrWhole) {
  std::string id = m_jobs.create(spec_of(Digest())).value();
  sweep([&] { return remove_job(id); },
        [&] {
          for (const auto found = m_jobs.list().value(); const JobRecord& each : found)
            EXPECT_EQ(each.state, JobState::queued) << each.reason;
        },
        [&] {
          ASSERT_TRUE(m_jobs.clean_up().has_value());
          for (const auto found = m_jobs.list().value(); const JobRecord& each : found)
            ASSERT_TRUE(remove_job(each.job).has_value());
          id = m_jobs.create(spec_of(Digest())).value();
        });
}
} // namespace
} // namespace remotemac::daemon
