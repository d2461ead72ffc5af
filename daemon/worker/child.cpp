#include "daemon/worker/child.h"

#include "daemon/worker/engine.h"
#include "daemon/worker/replay.h"

#ifdef __linux__
#include <cstdio>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace remotemac::worker {
namespace {

// A case that asks for absurd amounts of memory gets an error, before the system ends the wrong process.
void limit_memory() {
#ifdef __linux__
  constexpr rlim_t k_sanitized = rlim_t{1} << 40; // address space that only a sanitizer reserves
  constexpr rlim_t k_least = rlim_t{4} << 30;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "r"), &std::fclose);
  unsigned long pages = 0;
  if (!file || std::fscanf(file.get(), "%lu", &pages) != 1)
    return;
  const auto page = static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  const rlim_t used = pages * page;
  const rlim_t half = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) * page / 2;
  if (used > k_sanitized)
    return;
  const rlimit limit{used + std::max(half, k_least), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

Result<std::vector<Case>> cases_of(const Options& options) {
  if (options.group == "replay") {
    RM_ASSIGN(Recording recording, read_recording(options.recording));
    RM_ASSIGN(const auto indices, read_selection(options.select, recording.signatures.size()));
    return replay_cases(recording, indices);
  }
  const Probe* probe = find_probe(options.group);
  if (probe == nullptr)
    return Error(ErrorCode::usage, "no group '" + options.group + "'");
  return probe->cases(options.profile);
}

} // namespace

Result<void> run_child_group(const Options& options) {
  RM_ASSIGN(const std::vector<Case> cases, cases_of(options));
  RM_ASSIGN_WHILE("starting on device " + options.device, const auto engine, Engine::open(options.device, options.preload));
  limit_memory();
  RM_ASSIGN(JournalWriter journal, JournalWriter::open(options.journal));
  RM_TRY(journal.session(engine->facts()));
  for (std::size_t i = options.skip; i < cases.size(); ++i) {
    Finding draft = engine->draft(cases[i]);
    RM_TRY(journal.begin(i, draft));
    Result<void> written = ok();
    Finding finding = engine->run(cases[i], [&](std::string_view stage) {
      if (written)
        written = journal.stage(stage);
    });
    RM_TRY(std::move(written));
    // How a replayed call was made, where it was not made as recorded.
    if (options.group == "replay" && !cases[i].name.empty())
      finding.detail = finding.detail.empty() ? cases[i].name : cases[i].name + "; " + finding.detail;
    RM_TRY(journal.end(i, finding));
  }
  return ok();
}

} // namespace remotemac::worker
