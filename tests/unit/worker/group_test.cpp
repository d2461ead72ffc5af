#include "daemon/worker/group.h"

#include "daemon/worker/child_runner.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/worker/fake_child.h"

#include <csignal>
#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

using std::chrono::milliseconds;
using Statuses = std::vector<Status>;

class GroupTest : public testing::Test {
protected:
  GroupReport run(const std::vector<std::string>& script, const Limits& limits = {}) {
    GroupPlan plan;
    plan.name = "fake";
    for (std::size_t i = 0; i < script.size(); ++i) {
      Finding draft;
      draft.id = "fake." + std::to_string(i);
      draft.operation = "aten::op" + std::to_string(i);
      plan.drafts.push_back(std::move(draft));
    }
    plan.arguments = fake::fake_child(script);
    plan.environment = {{"RM_FAKE", "on"}};
    plan.journal = m_folder / "journal";
    return run_group(plan, limits);
  }
  static Statuses statuses(const GroupReport& report) {
    Statuses result;
    for (const Finding& each : report.findings)
      result.push_back(each.status);
    return result;
  }
  // Long enough for a loaded machine to start a process, short enough for a test.
  static Limits short_limits() { return {milliseconds(60'000), milliseconds(1'000), 8}; }
  test::TempDir m_folder;
};

TEST_F(GroupTest, AllCasesInOneChild) {
  const GroupReport report = run({"pass", "fail", "pass"});
  EXPECT_EQ(report.status, GroupStatus::ok);
  EXPECT_EQ(statuses(report), (Statuses{Status::pass, Status::fail, Status::pass}));
  EXPECT_EQ(report.last_case, "fake.2");
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.findings[1].operation, "aten::op1") << "the parent's names stand";
  ASSERT_TRUE(report.session);
  EXPECT_TRUE(report.session->simulated);
  EXPECT_EQ(report.session->simulated_reason, "on") << "the environment reaches the child";
}

TEST_F(GroupTest, ACrashIsAFindingAndTheGroupGoesOn) {
  const GroupReport report = run({"pass", "abort", "pass", "abort", "fail"});
  EXPECT_EQ(report.status, GroupStatus::crash);
  EXPECT_EQ(statuses(report), (Statuses{Status::pass, Status::crash, Status::pass, Status::crash, Status::fail}));
  EXPECT_EQ(report.signal, SIGABRT);
  EXPECT_NE(report.findings[1].detail.find("SIGABRT: fake assertion in case 1"), std::string::npos) << report.findings[1].detail;
  EXPECT_NE(report.stderr_tail.find("case 3"), std::string::npos) << report.stderr_tail;
}

TEST_F(GroupTest, AnExitInTheMiddleIsACrashToo) {
  const GroupReport report = run({"exit", "pass"});
  EXPECT_EQ(statuses(report), (Statuses{Status::crash, Status::pass}));
  EXPECT_NE(report.findings[0].detail.find("status 3"), std::string::npos) << report.findings[0].detail;
}

TEST_F(GroupTest, AHangIsAFindingAndTheGroupGoesOn) {
  const GroupReport report = run({"pass", "hang", "pass"}, short_limits());
  EXPECT_EQ(report.status, GroupStatus::hang);
  EXPECT_EQ(statuses(report), (Statuses{Status::pass, Status::hang, Status::pass}));
  EXPECT_LT(report.seconds, 30);
}

TEST_F(GroupTest, WhatTheReferenceDoesSaysNothingAboutTheDevice) {
  const GroupReport report = run({"hang-reference", "abort-reference", "pass"}, short_limits());
  EXPECT_EQ(statuses(report), (Statuses{Status::not_tested, Status::not_tested, Status::pass}));
  EXPECT_EQ(report.status, GroupStatus::ok);
}

TEST_F(GroupTest, RestartsAreBounded) {
  Limits limits;
  limits.restarts = 2;
  const GroupReport report = run({"abort", "abort", "abort", "pass"}, limits);
  EXPECT_EQ(statuses(report), (Statuses{Status::crash, Status::crash, Status::crash, Status::not_tested}));
  EXPECT_NE(report.findings[3].detail, "");
}

TEST_F(GroupTest, TheTimeOfTheGroupIsBounded) {
  const GroupReport report = run({"hang", "hang", "hang", "hang", "hang", "pass"}, {milliseconds(1'500), milliseconds(1'000), 8});
  EXPECT_LT(report.seconds, 30);
  EXPECT_EQ(report.findings.back().status, Status::not_tested);
  EXPECT_EQ(report.findings.back().detail, "the time of the group was used up");
}

TEST_F(GroupTest, AChildThatCannotStartSaysWhyForEveryCase) {
  const GroupReport report = run({"no-start", "pass"});
  EXPECT_EQ(report.status, GroupStatus::error);
  EXPECT_EQ(statuses(report), (Statuses{Status::not_tested, Status::not_tested}));
  EXPECT_EQ(report.exit_code, 125);
  EXPECT_EQ(report.findings[1].detail, "there is no device") << "the error, not the hint below it";
}

TEST_F(GroupTest, AnOldJournalIsNotRead) {
  test::write_file(m_folder / "journal", "{\"begin\": 0, \"finding\": {\"status\": \"fail\"}}\n");
  EXPECT_EQ(statuses(run({"pass"})), Statuses{Status::pass});
}

TEST_F(GroupTest, NoCasesIsNoChild) {
  const GroupReport report = run({});
  EXPECT_EQ(report.status, GroupStatus::ok);
  EXPECT_FALSE(report.session);
}

TEST(SignalName, KnownAndUnknown) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(63), "signal 63");
}

} // namespace
} // namespace remotemac::worker
