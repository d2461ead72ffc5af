#include "cli/command.h"
#include "cli/remote.h"
#include "common/job.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
Tone tone_of(JobState state) {
  switch (state) {
  case JobState::succeeded: return Tone::good;
  case JobState::failed:
  case JobState::lost:
  case JobState::timed_out: return Tone::bad;
  case JobState::cancelled: return Tone::warning;
  default: return Tone::plain;
  }
}

class JobsCommand final : public Command {
public:
  void declare(CLI::App& app) override { app.add_option("--host", m_host, "only this host (otherwise every known one)"); }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const HostStore store, HostStore::load(context.paths, context.config));
    std::vector<HostRecord> hosts = store.hosts();
    if (!m_host.empty()) {
      RM_ASSIGN(const HostRecord host, store.find(m_host));
      hosts = {host};
    }
    nlohmann::json all = nlohmann::json::array();
    nlohmann::json failures = nlohmann::json::array();
    std::size_t shown = 0;
    for (const HostRecord& host : hosts) {
      const Result<std::vector<JobRecord>> jobs = list_on(context, host);
      if (!jobs) {
        if (!m_host.empty())
          return jobs.error();
        context.out.warn("host " + host.name + ": " + jobs.error().chain());
        failures.push_back({{"host", host.name}, {"error", jobs.error().chain()}});
        continue;
      }
      for (const JobRecord& job : *jobs) {
        nlohmann::json entry = to_json(job);
        entry["host"] = host.name;
        all.push_back(std::move(entry));
        ++shown;
        context.out.line(job.job + "  " + context.out.paint(state_name(job.state), tone_of(job.state)) + "  " + host.name + "  " + job.project + "  " + job.submitted + (job.reason.empty() ? "" : "  " + job.reason));
      }
    }
    if (shown == 0)
      context.out.line(failures.empty() ? "no jobs" : "no jobs on the hosts that answered");
    context.out.json({{"jobs", all}, {"unreachable", failures}});
    return 0;
  }

private:
  static Result<std::vector<JobRecord>> list_on(Context& context, const HostRecord& host) {
    RM_ASSIGN(const Session session, open_session(context, host));
    return session.client->list();
  }

  std::string m_host;
};
} // namespace

std::unique_ptr<Command> make_jobs();
std::unique_ptr<Command> make_jobs() { return std::make_unique<JobsCommand>(); }

} // namespace remotemac::cli
