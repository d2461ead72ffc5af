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
    if (!m_keep_remote) {
      context.out.phase("remove", "deleting on " + host.name);
      RM_TRY_WHILE("removing host " + host.name, delete_there(context, host));
      context.out.phase_done("deleted on " + host.name + " and listed again: nothing left");
    }
    RM_TRY(audit_host_change(context, AuditHostChange::removed, host, m_keep_remote ? "not deleted on the host" : "deleted on the host and listed again"));
    RM_TRY(store.remove(host.name));
    context.out.line("Host " + host.name + " is removed." + (m_keep_remote ? " Nothing was deleted there: what was sent may still lie on it until the provider wipes it." : ""));
    context.out.json({{"removed", host.name}, {"deleted_there", !m_keep_remote}});
    return 0;
  }

private:
  static Result<void> delete_there(Context& context, const HostRecord& host) {
    {
      RM_ASSIGN(const Session session, open_session(context, host));
      RM_ASSIGN(const std::vector<JobRecord> jobs, session.client->list());
      for (const JobRecord& job : jobs) {
        if (!is_final(job.state))
          return Error(ErrorCode::remote_refused, "job " + job.job + " is still " + std::string(state_name(job.state)) + " there", "remotemac cancel " + job.job + " --host " + host.name);
      }
      RM_TRY(session.client->stop());
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
