#pragma once
// A project folder and its judgement.
#include "policies/gate.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace remotemac::policies {

inline const Moment k_now = Moment(std::chrono::sys_days(std::chrono::year(2026) / 12 / 1));

struct Project {
  test::TempDir dir;
  HostConditions host;
  std::string purpose = "coursework";
  JudgeCache* cache = nullptr;
  std::vector<GeneratedFile> generated;

  Project() {
    host.name = "mini1";
    host.region = "eu";
    host.contract_id = "C-1";
  }
  void write(const std::string& path, const std::string& content) const { test::write_file(dir / path, content); }

  [[nodiscard]] Judgement judge(const std::string& policy_text) const {
    const Result<ProjectPolicy> policy = parse_project_policy(policy_text, "remotemac.toml");
    EXPECT_TRUE(policy) << policy.error().chain();
    JudgeRequest request;
    request.root = dir.path();
    request.policy = &*policy;
    request.host = host;
    request.purpose = purpose;
    request.now = k_now;
    request.cache = cache;
    request.generated = generated;
    Result<Judgement> out = policies::judge(request);
    EXPECT_TRUE(out) << out.error().chain();
    return out ? std::move(*out) : Judgement{};
  }
};

inline const FileDecision* decision(const Judgement& judgement, const std::string& path) {
  for (const FileDecision& each : judgement.decisions) {
    if (each.path == path)
      return &each;
  }
  return nullptr;
}

// "refused builtin.symlink", or "none".
inline std::string said(const Judgement& judgement, const std::string& path) {
  const FileDecision* each = decision(judgement, path);
  return each == nullptr ? "none" : std::string(name_of(each->verdict)) + " " + each->rule;
}

inline const std::string k_code = "[[data]]\nname = \"source\"\nclass = \"code\"\ninclude = [\"**\"]\n";
inline std::string code(const std::string& include) { return "[[data]]\nname = \"source\"\nclass = \"code\"\ninclude = [" + include + "]\n"; }

} // namespace remotemac::policies
