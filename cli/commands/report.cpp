#include "cli/command.h"
#include "cli/conclude.h"
#include "cli/report/report.h"
#include "common/json.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class ReportCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("run", m_run, "the run's id (the newest)");
    app.add_option("--project", m_project, "project folder (the current one)");
    app.add_option("--format", m_format, "text, markdown or json (text)")->check(CLI::IsMember({"text", "markdown", "json"}));
    app.add_flag("--list", m_list, "list the runs instead");
  }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const std::filesystem::path root, find_project_root(m_project));
    RM_ASSIGN(const ProjectFile project, read_project_file(root));
    RM_ASSIGN(RunStore store, RunStore::open(root));
    const std::vector<RunInfo> runs = store.list(RunKind::run);
    if (m_list)
      return list(context, runs);
    RM_ASSIGN(const RunInfo info, choose(store, runs));
    if (info.state != "collected" && info.state != "judged")
      return Error(ErrorCode::no_run, "run " + info.id + " has no results yet (" + info.state + ")", info.job.empty() ? "it broke off before a job was submitted; run again" : "remotemac run --attach " + info.job);
    RM_ASSIGN(const Concluded concluded, conclude_run(context, project, store, info));
    if (m_format == "markdown") {
      context.out.line(report::to_markdown(concluded.evidence, concluded.verdict));
    } else if (m_format == "json" && !context.out.is_json()) {
      std::cout << dump_json(report::to_json(concluded.evidence, concluded.verdict), 2) << "\n";
    } else {
      report::TextStyle style;
      style.width = context.out.width();
      style.colour = context.out.colour_on_stdout();
      context.out.line(report::to_text(concluded.evidence, concluded.verdict, style));
    }
    context.out.json(report::to_json(concluded.evidence, concluded.verdict));
    return 0;
  }

private:
  static Result<int> list(Context& context, const std::vector<RunInfo>& runs) {
    nlohmann::json all = nlohmann::json::array();
    for (const RunInfo& run : runs) {
      context.out.line(run.id + "  " + run.state + "  " + clean_line(run.host) + (run.job.empty() ? "" : "  " + clean_line(run.job)));
      all.push_back({{"run", run.id}, {"state", run.state}, {"host", run.host}, {"job", run.job}, {"created", run.created}});
    }
    if (runs.empty())
      context.out.line("no runs yet; make one with: remotemac run");
    context.out.json({{"runs", all}});
    return 0;
  }

  Result<RunInfo> choose(RunStore& store, const std::vector<RunInfo>& runs) const {
    if (!m_run.empty())
      return store.load(RunKind::run, m_run);
    for (const RunInfo& run : runs) {
      if (run.state == "judged" || run.state == "collected")
        return run;
    }
    return Error(ErrorCode::no_run, "this project has no run with results", "remotemac run");
  }

  std::string m_run;
  std::string m_project = ".";
  std::string m_format = "text";
  bool m_list = false;
};
} // namespace

std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_report() { return std::make_unique<ReportCommand>(); }

} // namespace remotemac::cli
