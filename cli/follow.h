#pragma once
// Attached to a job: shows its steps until it ends. The first Ctrl-C detaches (the job goes on), a second within two seconds cancels. A broken
// connection is made anew with growing pauses; the job does not notice.
#include "cli/remote.h"
#include "common/job.h"

namespace remotemac::cli {

enum class FollowEnd { finished, detached, cancelled };

struct Followed {
  FollowEnd end = FollowEnd::finished;
  JobRecord record;
};

[[nodiscard]] Result<Followed> follow_job(Context& context, const HostRecord& host, Session& session, const std::string& job);
// How to come back, printed when detaching.
[[nodiscard]] std::string comeback_text(const std::string& job, const std::string& host);

} // namespace remotemac::cli
