#include "daemon/worker/app.h"

#include "common/json.h"
#include "common/version.h"
#include "daemon/worker/battery.h"
#include "daemon/worker/child.h"
#include "daemon/worker/engine.h"
#include "daemon/worker/replay.h"

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

namespace remotemac::worker {
namespace {

constexpr int k_trouble = 1;

int fail(const Error& error) {
  std::fprintf(stderr, "remotemac-worker: %s\n", error.chain().c_str());
  std::fprintf(stderr, "  %s\n", error.next().c_str());
  return exit_status(error.code());
}

// "torch" is what the daemon chooses by.
int print_version() {
  const nlohmann::json versions = {{"version", k_version}, {"torch", built_for()}, {"running", running_version()}};
  std::printf("%s\n", dump_json(versions).c_str());
  return 0;
}

Result<Document> check(const Options& options) {
  RM_TRY(check_version());
  if (options.command == Options::Command::replay)
    return run_replay(options);
  return run_battery(options);
}

int run_checks(const Options& options) {
  const auto document = check(options);
  if (!document)
    return fail(document.error());
  if (const auto written = write_document(*document, options.out); !written)
    return fail(written.error());
  return shows_trouble(*document) ? k_trouble : 0;
}

int dispatch(const Options& options) {
  switch (options.command) {
  case Options::Command::help:
    std::printf("%s", usage().c_str());
    return 0;
  case Options::Command::version:
    return print_version();
  case Options::Command::child: {
    const auto done = run_child_group(options);
    return done ? 0 : fail(done.error());
  }
  case Options::Command::battery:
  case Options::Command::replay:
    break;
  }
  return run_checks(options);
}

} // namespace

int run_worker(int argc, char** argv) {
  try {
    const auto options = parse_options({argv + 1, argv + argc});
    return options ? dispatch(*options) : fail(options.error());
  } catch (const std::exception& error) {
    return fail(Error(ErrorCode::internal, error.what()));
  }
}

} // namespace remotemac::worker
