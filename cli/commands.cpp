#include "cli/command.h"

namespace remotemac::cli {

// One line per command; each make_* lives in cli/commands/<name>.cpp.
#define RM_COMMANDS(X)                                                                                                 \
  X("init", "look at the project and write remotemac.toml, which allows nothing yet", "remotemac init", make_init)     \
  X("host add", "pin a host's key, install daemon, worker and harness there, record contract and region",             \
    "remotemac host add mini1 me@mac.example.org --region eu --operator \"Mac Rental GmbH\" --contract-id C-17",       \
    make_host_add)                                                                                                     \
  X("host list", "list the hosts", "remotemac host list --json", make_host_list)                                       \
  X("host show", "show one host: pin, contract, facts", "remotemac host show mini1", make_host_show)                   \
  X("host remove", "forget a host and delete what was installed there", "remotemac host remove mini1",                 \
    make_host_remove)                                                                                                  \
  X("plan", "show what would leave, what would not, and which rule says so; sends nothing",                            \
    "remotemac plan --host mini1 --check", make_plan)                                                                  \
  X("reference", "make the mini-run on this machine (CUDA where there is one, else CPU), as the baseline",             \
    "remotemac reference", make_reference)                                                                             \
  X("run", "gate, sync, checks, mini-run, logs back, verdict, report", "remotemac run --host mini1 --require suitable", \
    make_run)                                                                                                          \
  X("jobs", "list jobs on the hosts", "remotemac jobs --host mini1", make_jobs)                                        \
  X("logs", "print a job's log streams", "remotemac logs jabc234def567 --step strict --follow", make_logs)             \
  X("cancel", "stop a job", "remotemac cancel jabc234def567", make_cancel)                                             \
  X("report", "print or export the report of a run", "remotemac report --format markdown", make_report)                \
  X("audit list", "list what left, what was refused, when and where", "remotemac audit list --json",                   \
    make_audit_list)                                                                                                   \
  X("audit verify", "prove that no line of the audit log was changed, removed or reordered",                           \
    "remotemac audit verify", make_audit_verify)                                                                       \
  X("doctor", "check this machine, the project and a host, and say what to mend", "remotemac doctor --host mini1",     \
    make_doctor)                                                                                                       \
  X("config", "show the settings with their origin, or set one", "remotemac config host.default mini1", make_config)   \
  X("version", "print versions of the program, the protocol and the libraries", "remotemac version --json",            \
    make_version)

#define RM_X(name, summary, example, make) std::unique_ptr<Command> make();
RM_COMMANDS(RM_X)
#undef RM_X

const std::vector<CommandEntry>& command_list() {
  static const std::vector<CommandEntry> list = {
#define RM_X(name, summary, example, make) {name, summary, example, &make},
      RM_COMMANDS(RM_X)
#undef RM_X
  };
  return list;
}

} // namespace remotemac::cli
