#pragma once
// Which steps a run or a reference consists of: pure, from the project file and the host. Also what has to be brought back for each step.
#include "cli/hosts.h"
#include "cli/project_file.h"
#include "common/job.h"

#include <string>
#include <vector>

namespace remotemac::cli {

// Path of the operation signatures in a run's snapshot (docs/evidence.md, "Operation signature").
inline constexpr const char* k_recording_path = "remotemac-recording.json";

enum class WithReplay { no, yes };

// backend, battery, replay (when there is a recording), strict, permissive: in this order, so that a machine that cannot do MPS at all is
// known before minutes are spent.
[[nodiscard]] JobSpec plan_run(const ProjectFile& project, const HostRecord& host, const Digest& snapshot, WithReplay replay);
// One recorded mini-run on CUDA where there is one, else CPU.
[[nodiscard]] JobSpec plan_reference(const ProjectFile& project, const HostRecord& host, const Digest& snapshot);
// Names for job.stat / job.fetch: evidence documents and declared outputs of every step, and the record.
[[nodiscard]] std::vector<std::string> names_to_collect(const JobSpec& spec);
// Log streams of a job, the environment's first.
[[nodiscard]] std::vector<std::string> log_streams(const JobSpec& spec);
// Everything in a specification that a person wrote, as one text: it leaves as a control message and is inspected like a file.
[[nodiscard]] std::string outgoing_text(const JobSpec& spec);

// What the gate says about it. No matched values.
struct OutgoingVerdict {
  bool allowed = true;
  std::string reason; // kind, count and where it stands in remotemac.toml: "1 password or API key ([run] env WANDB_API_KEY)"
  std::string kinds;  // kind and count alone, for the audit log
};
[[nodiscard]] OutgoingVerdict judge_outgoing(const JobSpec& spec);
// Of the whole project: what a run or a reference of it would carry beside the files.
[[nodiscard]] OutgoingVerdict judge_outgoing(const ProjectFile& project);

} // namespace remotemac::cli
