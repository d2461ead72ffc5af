#pragma once
// The gate: walks a project, reads every proposed file once, and decides for each whether it may leave, with rule, layer, place and
// reason. Default deny. The only maker of an ApprovedSet. Blocks; uses a second thread for reading where that helps.
#include "policies/approved_set.h"
#include "policies/judge_cache.h"
#include "policies/rules.h"

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace remotemac::policies {

// A file that remotemac itself makes for the host (a recording): judged like every other, declared as code.
struct GeneratedFile {
  std::string path;
  std::string bytes;
  std::string description;
};

struct JudgeRequest {
  std::filesystem::path root;
  const ProjectPolicy* policy = nullptr; // must outlive the call
  HostConditions host;
  std::string purpose;
  Moment now;
  std::vector<GeneratedFile> generated;
  JudgeCache* cache = nullptr; // may be null
  // Files judged so far, of all proposed; false = stop (error interrupted). Called on the calling thread.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

struct Totals {
  std::uint64_t approved = 0;
  std::uint64_t approved_bytes = 0;
  std::uint64_t refused = 0;
  std::uint64_t excluded = 0;
  std::uint64_t not_proposed = 0; // entries; a folder that was not entered counts as one
};

struct Judgement {
  ApprovedSet approved; // empty as long as anything is refused
  std::vector<FileDecision> decisions; // sorted by path
  Totals totals;
  std::string policy_digest;
};

// Errors: project, io, interrupted. A refusal is no error: it is in the judgement.
[[nodiscard]] Result<Judgement> judge(const JudgeRequest& request);
// For --json and the audit log; holds no matched values.
[[nodiscard]] nlohmann::json to_json(const Judgement& judgement);

// Text that goes to a host beside the files (command, arguments, environment).
struct TextVerdict {
  bool allowed = false;
  std::string reason;
};
[[nodiscard]] TextVerdict judge_text(const std::string& name, const std::string& text);

} // namespace remotemac::policies
