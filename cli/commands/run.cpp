#include "cli/command.h"
#include "cli/conclude.h"
#include "cli/job_lookup.h"
#include "cli/reference.h"
#include "cli/report/report.h"
#include "cli/survey/survey.h"
#include "cli/workflow.h"
#include "common/json.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class RunCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("--host", m_host, "the Mac (default: setting host.default, or the only host)");
    app.add_option("--project", m_project, "project folder (the current one)");
    CLI::Option* require = app.add_option("--require", m_require, "exit with 1 when the verdict is below this class")->check(CLI::IsMember({"suitable", "development-and-test", "cuda-required"}));
    app.add_option("--attach", m_attach, "go on with a job from which an earlier run was detached");
    app.add_flag("--detach,-d", m_detach, "submit and return")->excludes(require); // there is no verdict yet
    app.add_flag("--fresh-reference", m_fresh, "make the reference again even if a fitting one is there");
    app.add_flag("--no-reference", m_no_reference, "do without a reference: outputs are not compared, operations not replayed");
  }

  Result<int> run(Context& context) override {
    if (!m_attach.empty())
      return attach(context);
    RM_ASSIGN(const std::filesystem::path root, find_project_root(m_project));
    RM_ASSIGN(const ProjectFile project, read_project_file(root));
    if (project.command.empty())
      return Error(ErrorCode::project, "remotemac.toml names no command to run", "write for example: [run] command = [\"train.py\", \"--epochs\", \"1\"]");
    RM_ASSIGN(const HostStore hosts, HostStore::load(context.paths, context.config));
    RM_ASSIGN(const HostRecord host, choose_host(context, hosts, m_host));
    context.out.phase("survey", project.name);
    RM_ASSIGN_WHILE("surveying the project", const Survey surveyed, survey::survey(project.root, project.command, context.processes));
    context.out.phase_done(survey::one_line(surveyed));
    // Refusals stop everything before anything runs or connects, also before the reference.
    RM_ASSIGN(const policies::Judgement judgement, judge_project(context, project, host, {}));
    RM_TRY(stop_if_refused(context, project, host, judgement));
    RM_ASSIGN(const std::string recording, recording_for(context, project, project_digest(judgement.approved.manifest())));
    JobRequest request;
    request.survey = to_json(surveyed);
    if (!recording.empty())
      request.generated.push_back({k_recording_path, recording, "operation signatures of the reference run, without values"});
    const WithReplay replay = recording.empty() ? WithReplay::no : WithReplay::yes;
    request.plan = [&](const HostRecord& there, const Digest& snapshot) { return plan_run(project, there, snapshot, replay); };
    request.wait = m_detach ? WaitForJob::detach : WaitForJob::attach;
    RM_ASSIGN(const JobDone done, run_job(context, project, host, request));
    return done.end == JobEnd::collected ? finish(context, project, done.info) : left(context, project, done);
  }

private:
  Result<int> attach(Context& context) {
    RM_ASSIGN(const HostRecord host, host_of_job(context, m_attach, m_host));
    const auto place = find_job(context.paths, m_attach);
    if (!place)
      return Error(ErrorCode::no_job, "job " + m_attach + " was not submitted from here, so there is no run to go on with", "remotemac logs " + m_attach + " --host " + host.name);
    RM_ASSIGN(const ProjectFile project, read_project_file(place->project));
    RM_ASSIGN(RunStore store, RunStore::open(project.root));
    RM_ASSIGN(const RunInfo info, store.load(place->kind, place->run));
    RM_ASSIGN(const JobDone done, resume_job(context, project, host, info));
    if (done.end == JobEnd::collected && place->kind == RunKind::reference) {
      RM_ASSIGN(const ReferenceSummary summary, summarize_reference(project, done.info));
      context.out.line("Reference " + done.info.id + ": " + summary.text);
    }
    if (done.end != JobEnd::collected || place->kind == RunKind::reference)
      return left(context, project, done);
    return finish(context, project, done.info);
  }

  // Nothing is judged now: what a script needs to come back.
  static Result<int> left(Context& context, const ProjectFile& project, const JobDone& done) {
    const RunInfo& info = done.info;
    RM_ASSIGN(const RunStore store, RunStore::open(project.root));
    context.out.json({{"run", {{"id", info.id}, {"folder", store.folder(info).string()}, {"job", info.job}, {"host", info.host}, {"state", info.state}}}});
    return done.end == JobEnd::detached || done.end == JobEnd::cancelled ? exit_status(ErrorCode::interrupted) : 0;
  }

  // The recording of a fitting reference, made now when there is none.
  Result<std::string> recording_for(Context& context, const ProjectFile& project, const std::string& digest) const {
    if (m_no_reference)
      return std::string();
    RM_ASSIGN(RunStore store, RunStore::open(project.root));
    std::optional<RunInfo> reference = m_fresh ? std::nullopt : fitting_reference(store, project, digest);
    if (reference) {
      context.out.phase("reference", "");
      context.out.phase_done(reference->id + " fits: same files, same command");
    } else {
      context.out.note("reference   there is no fitting one; making it on this machine");
      RM_ASSIGN(JobDone made, make_reference_run(context, project));
      if (made.end == JobEnd::cancelled)
        return Error(ErrorCode::interrupted, "the reference was cancelled");
      if (made.end != JobEnd::collected)
        return Error(ErrorCode::interrupted, "the reference was not waited for", "remotemac run --attach " + made.info.job + ", then run again");
      reference = std::move(made.info);
    }
    RM_ASSIGN(const ReferenceSummary summary, summarize_reference(project, *reference));
    if (!summary.usable)
      context.out.warn("the reference run is not usable: " + summary.text);
    return summary.recording;
  }

  Result<int> finish(Context& context, const ProjectFile& project, const RunInfo& info) {
    RM_ASSIGN(RunStore store, RunStore::open(project.root));
    context.out.phase("verdict", "comparing and judging");
    RM_ASSIGN_WHILE("judging run " + info.id, const Concluded concluded, conclude_run(context, project, store, info));
    context.out.phase_done(std::string(verdict::verdict_name(concluded.verdict)));
    const std::filesystem::path folder = store.folder(info);
    report::TextStyle style;
    style.width = context.out.width();
    style.colour = context.out.colour_on_stdout();
    context.out.line();
    context.out.line(report::to_text(concluded.evidence, concluded.verdict, style));
    context.out.line("Report: " + (folder / "report.md").string());
    context.out.line("        " + (folder / "report.json").string());
    nlohmann::json object = report::to_json(concluded.evidence, concluded.verdict);
    object["run"] = {{"id", info.id}, {"folder", folder.string()}, {"job", info.job}, {"host", info.host}};
    context.out.json(object);
    if (concluded.verdict.reached == verdict::Reached::no)
      return 2;
    return !m_require.empty() && verdict::is_below(concluded.verdict, m_require) ? 1 : 0;
  }

  std::string m_host;
  std::string m_project = ".";
  std::string m_require;
  std::string m_attach;
  bool m_detach = false;
  bool m_fresh = false;
  bool m_no_reference = false;
};
} // namespace

std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_run() { return std::make_unique<RunCommand>(); }

} // namespace remotemac::cli
