#pragma once
// remotemac-worker: command line in, exit status out.
namespace remotemac::worker {

[[nodiscard]] int run_worker(int argc, char** argv);

} // namespace remotemac::worker
