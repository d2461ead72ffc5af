#include "cli/audit.h"
#include "cli/command.h"
#include "cli/install.h"
#include "cli/remote.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class HostRemoveCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("name", m_name, "the host's name")->required();
    app.add_flag("--keep-remote", m_keep_remote, "only forget the host here; delete nothing there (for a host that is gone)");
  }

  Result<int> run(Context& context) override {
    RM_ASSIGN(HostStore store, HostStore::load(context.paths, context.config));
    RM_ASSIGN(const HostRecord host, store.find(m_name));
    if (host.is_local())
      return Error(ErrorCode::usage, "'local' always exists and cannot be removed");
    Removed removed;
    if (!m_keep_remote) {
      context.out.phase("remove", "deleting on " + host.name);
      RM_ASSIGN_WHILE("removing host " + host.name, removed, delete_there(context, host));
      context.out.phase_done("deleted on " + host.name + " and listed again: " + std::to_string(removed.deleted.size()) + " folders gone, " + (removed.foreign.empty() ? "nothing left" : "left there is only what is not remotemac's"));
    }
    RM_TRY(audit_host_change(context, AuditHostChange::removed, host, audit_note(removed)));
    RM_TRY(store.remove(host.name));
    for (const std::string& folder : removed.deleted)
      context.out.line("  deleted there: " + folder);
    for (const std::string& path : removed.foreign)
      context.out.line(context.out.paint("  left there: ", Tone::warning) + path + " (not made by remotemac)");
    context.out.line("Host " + host.name + " is removed." + (m_keep_remote ? " Nothing was deleted there: what was sent may still lie on it until the provider wipes it." : ""));
    context.out.json({{"removed", host.name}, {"deleted_there", !m_keep_remote}, {"deleted", removed.deleted}, {"left_there", removed.foreign}});
    return 0;
  }

private:
  // No paths of the host: they may hold the login's name.
  std::string audit_note(const Removed& removed) const {
    if (m_keep_remote)
      return "not deleted on the host";
    return "deleted on the host and listed again" + (removed.foreign.empty() ? std::string() : "; " + std::to_string(removed.foreign.size()) + " entries that remotemac did not make were left");
  }

  static Result<Removed> delete_there(Context& context, const HostRecord& host) {
    {
      Result<Session> session = open_session(context, host);
      if (!session) {
        Error error = std::move(session).error();
        error.set_hint((error.hint().empty() ? "" : error.hint() + "; ") + "if the machine is gone for good: remotemac host remove " + host.name + " --keep-remote");
        return error;
      }
      RM_ASSIGN(const std::vector<JobRecord> jobs, session->client->list());
      for (const JobRecord& job : jobs) {
        if (!is_final(job.state))
          return Error(ErrorCode::remote_refused, "job " + job.job + " is still " + std::string(state_name(job.state)) + " there", "remotemac cancel " + job.job + " --host " + host.name);
      }
      RM_TRY(session->client->stop());
    }
    RM_ASSIGN(const std::unique_ptr<sync::Transport> transport, open_transport(context, host));
    return remove_from_host(*transport, host.install_dir, host.state_dir);
  }

  std::string m_name;
  bool m_keep_remote = false;
};
} // namespace

std::unique_ptr<Command> make_host_remove();
std::unique_ptr<Command> make_host_remove() { return std::make_unique<HostRemoveCommand>(); }

} // namespace remotemac::cli
