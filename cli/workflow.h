#pragma once
// One job from the project folder to what came back: gate, audit, connect, sync, submit, follow, collect. The same for a run on a Mac and for
// the reference on host local. Judging what came back is cli/conclude.h.
#include "cli/follow.h"
#include "cli/job_plan.h"
#include "cli/project_file.h"
#include "cli/run_store.h"
#include "policies/gate.h"

#include <functional>
#include <string>
#include <vector>

namespace remotemac::cli {

enum class WaitForJob { attach, detach };

struct JobRequest {
  RunKind kind = RunKind::run;
  std::vector<policies::GeneratedFile> generated;                            // judged like every other file
  std::function<JobSpec(const HostRecord&, const Digest& snapshot)> plan;
  WaitForJob wait = WaitForJob::attach;
  nlohmann::json survey; // becomes part of the run's record
};

// collected: what it left is here. submitted: it was not to be waited for. detached: Ctrl-C, and it goes on. cancelled: Ctrl-C twice.
enum class JobEnd { collected, submitted, detached, cancelled };

struct JobDone {
  RunInfo info;
  JobEnd end = JobEnd::collected;
};

// The gate alone, with its progress line. A refusal is a value here (see stop_if_refused).
[[nodiscard]] Result<policies::Judgement> judge_project(Context& context, const ProjectFile& project, const HostRecord& host, const std::vector<policies::GeneratedFile>& generated);
// Files, command and environment: error refused that names the first ones and what to write; also writes the refusal to the audit log.
[[nodiscard]] Result<void> stop_if_refused(Context& context, const ProjectFile& project, const HostRecord& host, const policies::Judgement& judgement);

[[nodiscard]] Result<JobDone> run_job(Context& context, const ProjectFile& project, const HostRecord& host, const JobRequest& request);
// Goes on where a detached or broken-off run stopped: follow and collect.
[[nodiscard]] Result<JobDone> resume_job(Context& context, const ProjectFile& project, const HostRecord& host, RunInfo info);

// Digest over path, size and content digests of the approved files without generated ones.
[[nodiscard]] std::string project_digest(const Manifest& manifest);

} // namespace remotemac::cli
