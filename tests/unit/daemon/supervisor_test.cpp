#include "daemon/supervisor.h"

#include "tests/unit/daemon/store_fixture.h"

#include <set>

namespace remotemac::daemon {
namespace {
// Processes that do what the test says.
class FakeShims final : public ShimHost {
public:
  Result<pid_t> start(const JobPaths& paths) override {
    if (refuses)
      return Error(ErrorCode::process, "no more processes");
    started.push_back(paths.root.filename());
    living.insert(paths.root.filename());
    return static_cast<pid_t>(1000 + started.size());
  }
  bool alive(const JobPaths& paths) override { return living.contains(paths.root.filename()); }
  bool ended(pid_t pid) override { return !lingering && !living.contains(started.at(static_cast<std::size_t>(pid - 1001))); }
  void kill_leftovers(const std::string& job) override { killed.push_back(job); }

  std::vector<std::string> started;
  std::set<std::string> living;
  std::vector<std::string> killed;
  bool refuses = false;
  bool lingering = false; // lets go of its lock before it is gone
};

class SupervisorTest : public StoreFixture {
protected:
  std::string submit() {
    const std::string id = m_jobs.create(spec_of(Digest())).value();
    m_supervisor.submitted(id);
    return id;
  }
  void end(const std::string& id, JobState state) {
    ASSERT_TRUE(m_jobs.finish(m_jobs.record(id).value(), state, ""));
    m_shims.living.erase(id);
  }
  JobState state_of(const std::string& id) { return m_jobs.record(id).value().state; }
  FakeShims m_shims;
  Supervisor m_supervisor{m_disk, m_jobs, m_shims, m_clock, "boot-1"};
};
using Names = std::vector<std::string>;

TEST_F(SupervisorTest, OneAtATimeInOrder) {
  const std::string a = submit();
  const std::string b = submit();
  EXPECT_EQ(m_shims.started, Names{a});
  EXPECT_EQ(m_supervisor.queue().position(b), 1u);
  m_supervisor.tick();
  EXPECT_EQ(m_shims.started, Names{a});
  end(a, JobState::succeeded);
  m_supervisor.tick();
  EXPECT_EQ(m_shims.started, (Names{a, b}));
  end(b, JobState::failed);
  m_supervisor.tick();
  EXPECT_FALSE(m_supervisor.busy());
  EXPECT_TRUE(m_shims.killed.empty());
}

TEST_F(SupervisorTest, AShimThatIsNotGoneYetIsCollectedLater) {
  const std::string a = submit();
  m_shims.lingering = true;
  end(a, JobState::succeeded);
  m_supervisor.tick();
  EXPECT_TRUE(m_supervisor.busy()) << "it would stay a zombie for ever";
  m_shims.lingering = false;
  m_supervisor.tick();
  EXPECT_FALSE(m_supervisor.busy());
}

TEST_F(SupervisorTest, AShimThatVanishesLeavesALostJobAndNoProcess) {
  const std::string a = submit();
  m_shims.living.erase(a);
  m_supervisor.tick();
  EXPECT_EQ(state_of(a), JobState::lost);
  EXPECT_EQ(m_shims.killed, Names{a});
  EXPECT_FALSE(m_supervisor.busy());
}

TEST_F(SupervisorTest, AShimThatCannotStartFailsTheJobAndTheNextOneIsTried) {
  m_shims.refuses = true;
  const std::string a = submit();
  EXPECT_EQ(state_of(a), JobState::failed);
  EXPECT_NE(m_jobs.record(a).value().reason.find("no more processes"), std::string::npos);
  m_shims.refuses = false;
  EXPECT_EQ(m_shims.started, Names{});
  const std::string b = submit();
  EXPECT_EQ(m_shims.started, Names{b});
}

TEST_F(SupervisorTest, CancelEndsAWaitingJobAndAsksARunningOne) {
  const std::string a = submit();
  const std::string b = submit();
  EXPECT_EQ(m_supervisor.cancel(b).value(), JobState::cancelled);
  EXPECT_EQ(state_of(b), JobState::cancelled);
  EXPECT_FALSE(is_final(m_supervisor.cancel(a).value()));
  EXPECT_TRUE(std::filesystem::exists(m_jobs.paths(a).cancel()));
  EXPECT_EQ(m_supervisor.cancel("jaaaaaaaaaaaa").error().code(), ErrorCode::no_job);
}

TEST_F(SupervisorTest, ANewDaemonFindsAllKindsOfJobsAgain) {
  const std::string running = m_jobs.create(spec_of(Digest())).value();
  const std::string waiting = m_jobs.create(spec_of(Digest())).value();
  const std::string taken = m_jobs.create(spec_of(Digest())).value();
  m_shims.living.insert(running);
  test::write_file(m_jobs.paths(taken).shim_info(), "{}");
  ASSERT_TRUE(m_supervisor.recover());
  EXPECT_EQ(state_of(taken), JobState::lost) << "a shim had it and is gone";
  EXPECT_TRUE(m_supervisor.queue().is_running(running));
  EXPECT_TRUE(m_supervisor.queue().is_waiting(waiting));
  EXPECT_TRUE(m_shims.started.empty());
}

TEST_F(SupervisorTest, AnEndThatWasOnlyWrittenAsAnEventCounts) {
  const std::string a = submit();
  const JobRecord before = m_jobs.record(a).value();
  ASSERT_TRUE(m_jobs.finish(before, JobState::timed_out, "limit"));
  ASSERT_TRUE(m_jobs.save(before)); // as if the record had not been written
  m_shims.living.erase(a);
  m_supervisor.tick();
  EXPECT_EQ(state_of(a), JobState::timed_out);
}
} // namespace
} // namespace remotemac::daemon
