#pragma once
// The child process of a group: runs the cases from --skip on and writes the journal. Its end, however it comes, is read there.
#include "daemon/worker/options.h"

namespace remotemac::worker {

[[nodiscard]] Result<void> run_child_group(const Options& options);

} // namespace remotemac::worker
