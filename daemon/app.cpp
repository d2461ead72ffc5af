#include "daemon/app.h"

#include "common/text.h"
#include "common/version.h"
#include "daemon/connect.h"
#include "daemon/server.h"
#include "daemon/shim.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <sys/stat.h>

namespace remotemac::daemon {
namespace {
struct Arguments {
  std::string state_dir;
  std::string nonce;
  std::string job_dir;
};

Result<void> print_version() {
  std::printf("remotemacd %s protocol %d-%d\n", k_version, k_protocol_min, k_protocol_max);
  return ok();
}

// The command that was chosen.
using Chosen = std::function<Result<void>()>;

void declare(CLI::App& app, Arguments& arguments, Chosen& chosen) {
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("remotemacd ") + k_version);
  CLI::App* serve_command = app.add_subcommand("serve", "run the daemon of a state folder until it is told to stop");
  serve_command->add_option("--state-dir", arguments.state_dir, "absolute path of the state folder")->required();
  serve_command->callback([&] { chosen = [&] { return serve(arguments.state_dir, ServerTimes()); }; });
  CLI::App* connect_command = app.add_subcommand("connect", "start the daemon if none runs, then pass bytes between it and the standard streams");
  connect_command->add_option("--state-dir", arguments.state_dir, "absolute path of the state folder")->required();
  connect_command->add_option("--nonce", arguments.nonce, "32 hex digits that mark the first line of the answer")->required();
  connect_command->callback([&] { chosen = [&] { return connect(arguments.nonce, arguments.state_dir, ConnectTimes()); }; });
  CLI::App* shim_command = app.add_subcommand("shim", "run one job to its end; started by the daemon");
  shim_command->add_option("--job-dir", arguments.job_dir, "absolute path of the job's folder")->required();
  shim_command->callback([&] { chosen = [&] { return run_shim(arguments.job_dir, ShimTimes()); }; });
  app.add_subcommand("version", "print the version and the protocol versions")->callback([&] { chosen = print_version; });
}

void complain(const std::string& message, const std::string& hint) {
  std::fprintf(stderr, "remotemacd: %s\n", message.c_str());
  if (!hint.empty())
    std::fprintf(stderr, "  next: %s\n", hint.c_str());
}
} // namespace

int run_app(const std::vector<std::string>& arguments) {
  ::umask(077); // logs, locks and records are for this user only, whatever the login says
  Arguments values;
  Chosen chosen;
  CLI::App app("The far side of remotemac: keeps project snapshots and runs jobs on this machine.", "remotemacd");
  declare(app, values, chosen);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  reversed.pop_back();
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    complain(clean_line(error.what(), 500), "remotemacd --help");
    return exit_status(ErrorCode::usage);
  }
  try {
    const Result<void> done = chosen();
    if (done)
      return 0;
    complain(done.error().chain(), done.error().hint());
    return exit_status(done.error().code());
  } catch (const std::exception& error) {
    complain(clean_line(error.what(), 500), "this is a defect: please report it with the command line and the version");
    return exit_status(ErrorCode::internal);
  }
}

} // namespace remotemac::daemon
