#include "cli/command.h"
#include "cli/job_lookup.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class CancelCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("job", m_job, "the job's id")->required();
    app.add_option("--host", m_host, "host of the job (found by itself for jobs submitted here)");
  }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const HostRecord host, host_of_job(context, m_job, m_host));
    RM_ASSIGN(const Session session, open_session(context, host));
    RM_ASSIGN(const std::string state, session.client->cancel(m_job));
    const std::optional<JobState> now = state_from_name(state);
    const std::string text = state == "cancelled" ? state : now && is_final(*now) ? "had ended already (" + state + ")" : "asked to stop (now " + state + ")";
    context.out.line("job " + m_job + " on " + host.name + ": " + text);
    context.out.json({{"job", m_job}, {"host", host.name}, {"state", state}});
    return 0;
  }

private:
  std::string m_job;
  std::string m_host;
};
} // namespace

std::unique_ptr<Command> make_cancel();
std::unique_ptr<Command> make_cancel() { return std::make_unique<CancelCommand>(); }

} // namespace remotemac::cli
