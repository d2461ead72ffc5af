// Whatever rules, trees and faults are generated: bytes of a file that the gate did not approve never reach a transport, the record that
// allows a transfer comes before its first byte, and a file is approved only for a reason that the generator knows to be right.
#include "tests/property/project_maker.h"
#include "tests/property/recording_host.h"
#include "tests/support/temp_dir.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <set>

namespace remotemac::property {
namespace {
constexpr int k_cases = 2200;
const policies::Moment k_now = policies::Moment(std::chrono::sys_days(std::chrono::year(2026) / 12 / 1));

std::uint64_t choose_seed() {
  const char* given = std::getenv("RM_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

struct Tally {
  int refused = 0;
  int nothing = 0;
  int sent = 0;
  int broken_off = 0;
  int disturbed = 0;
};

std::set<std::string> approved_paths(const policies::Judgement& judgement) {
  std::set<std::string> out;
  for (const ManifestFile& file : judgement.approved.manifest().files)
    out.insert(file.path.text());
  return out;
}

void run_case(Random& random, Tally& tally) {
  const test::TempDir root;
  const test::TempDir outside;
  MadeProject project = make_project(random, root.path(), outside.path());
  const Result<policies::ProjectPolicy> policy = policies::parse_project_policy(project.policy_text, "remotemac.toml");
  ASSERT_TRUE(policy) << policy.error().chain() << "\n" << project.policy_text;
  policies::JudgeRequest request;
  request.root = root.path();
  request.policy = &*policy;
  request.host = project.host;
  request.purpose = project.purpose;
  request.now = k_now;
  const Result<policies::Judgement> judgement = policies::judge(request);
  ASSERT_TRUE(judgement) << judgement.error().chain();
  const std::set<std::string> approved = approved_paths(*judgement);
  ASSERT_TRUE(judgement->totals.refused == 0 || approved.empty()) << "one refusal must hold back everything";
  for (const MadeFile& file : project.files)
    ASSERT_FALSE(file.must_not_leave && approved.contains(file.path)) << file.path << " was approved in spite of " << file.why << "\n" << project.policy_text;

  std::set<std::string> may_leave;
  for (const MadeFile& file : project.files) {
    if (approved.contains(file.path))
      may_leave.insert(file.canary);
  }
  const bool disturbed = chance(random, 40);
  if (disturbed)
    disturb(random, root.path(), outside.path(), project);
  const HostKind kind = chance(random, 15) ? HostKind::greedy : chance(random, 30) ? HostKind::knows_half : HostKind::honest;
  const std::size_t fail_at = chance(random, 30) ? 1 + random() % 14 : 0;
  const bool log_fails = chance(random, 10);
  bool asked = false;
  const PushOutcome outcome = push_recorded(judgement->approved, kind, fail_at, [&]() -> Result<void> {
    asked = true;
    return log_fails ? Result<void>(Error(ErrorCode::disk_full, "the audit log cannot be written")) : ok();
  });
  ASSERT_TRUE(outcome.allowed_first) << "something was sent before the record that allows it";
  for (const MadeFile& file : project.files) {
    const bool seen = outcome.on_the_wire.find(file.canary) != std::string::npos;
    ASSERT_FALSE(seen && !may_leave.contains(file.canary)) << "the content of " << file.path << " was on the wire\n" << project.policy_text;
    ASSERT_FALSE(seen && (log_fails || !asked)) << "content was sent without a record";
    ASSERT_FALSE(seen && kind == HostKind::greedy) << "a host that asks for more than was offered got content";
    // Names are data too: none of a file that stays.
    ASSERT_FALSE(!approved.contains(file.path) && outcome.on_the_wire.find("\"" + file.path + "\"") != std::string::npos) << "the name of " << file.path << " was on the wire";
  }
  const bool honest_run = kind != HostKind::greedy && fail_at == 0 && !log_fails && !disturbed;
  if (honest_run && !approved.empty()) {
    ASSERT_TRUE(outcome.report) << outcome.report.error().chain();
    for (const std::string& canary : may_leave)
      ASSERT_TRUE(kind == HostKind::knows_half || outcome.on_the_wire.find(canary) != std::string::npos) << "what was approved was not sent";
  }
  tally.refused += judgement->totals.refused > 0 ? 1 : 0;
  tally.nothing += judgement->totals.refused == 0 && approved.empty() ? 1 : 0;
  tally.sent += outcome.report && !approved.empty() ? 1 : 0;
  tally.broken_off += !outcome.report ? 1 : 0;
  tally.disturbed += disturbed ? 1 : 0;
}

TEST(GateProperty, DeniedBytesNeverReachATransport) {
  const std::uint64_t seed = choose_seed();
  std::cout << "seed " << seed << " (RM_SEED=" << seed << " repeats it)\n";
  RecordProperty("seed", std::to_string(seed));
  Tally tally;
  for (int i = 0; i < k_cases; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(run_case(random, tally));
  }
  std::cout << k_cases << " cases: " << tally.refused << " refused, " << tally.nothing << " with nothing declared, " << tally.sent << " sent, " << tally.broken_off << " broken off, " << tally.disturbed << " disturbed\n";
  // A generator that only makes easy cases would prove nothing.
  EXPECT_GT(tally.refused, k_cases / 10);
  EXPECT_GT(tally.sent, k_cases / 20);
  EXPECT_GT(tally.broken_off, k_cases / 20);
}
} // namespace
} // namespace remotemac::property
