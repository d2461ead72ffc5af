#include "cli/command.h"
#include "cli/remote.h"
#include "cli/workflow.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
constexpr const char* k_no_host = "(none yet)";

class PlanCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("--host", m_host, "judge for this host (its contract and region are part of the decision)");
    app.add_option("--project", m_project, "project folder (the current one)");
    app.add_flag("--check", m_check, "exit with 1 when a declared file, the command or the environment is refused");
    app.add_flag("--all", m_all, "also list every approved file");
  }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const std::filesystem::path root, find_project_root(m_project));
    RM_ASSIGN(const ProjectFile project, read_project_file(root));
    RM_ASSIGN(const HostStore store, HostStore::load(context.paths, context.config));
    RM_ASSIGN(const HostRecord host, host_to_judge_for(context, store));
    RM_ASSIGN(const policies::Judgement judgement, judge_project(context, project, host, {}));
    const OutgoingVerdict outgoing = judge_outgoing(project);
    show(context.out, judgement, outgoing, host);
    nlohmann::json object = policies::to_json(judgement);
    object["host"] = host.name;
    object["command"] = {{"verdict", outgoing.allowed ? "approved" : "refused"}, {"reason", outgoing.reason}};
    context.out.json(object);
    return m_check && (judgement.totals.refused > 0 || !outgoing.allowed) ? 1 : 0;
  }

private:
  // A plan is made before there is any host: then for one of which nothing is recorded, so that what asks for a contract or a region is refused.
  Result<HostRecord> host_to_judge_for(Context& context, const HostStore& store) const {
    if (!m_host.empty() || store.hosts().size() > 1 || !context.config.text("host.default").empty())
      return choose_host(context, store, m_host);
    HostRecord unknown;
    unknown.name = k_no_host;
    return unknown;
  }

  void show(Output& out, const policies::Judgement& judgement, const OutgoingVerdict& outgoing, const HostRecord& host) const {
    using policies::FileVerdict;
    const auto section = [&](FileVerdict verdict, const char* title, Tone tone, std::size_t limit) {
      std::size_t shown = 0;
      for (const policies::FileDecision& decision : judgement.decisions) {
        if (decision.verdict != verdict)
          continue;
        if (shown == 0)
          out.line(out.paint(title, tone));
        if (++shown > limit)
          continue;
        out.line("  " + clean_line(decision.path) + (decision.size_bytes > 0 ? "  " + human_bytes(decision.size_bytes) : "") + (decision.data_set.empty() ? "" : "  " + clean_line(decision.data_set)));
        if (!decision.reason.empty())
          out.line("      " + clean_line(decision.reason) + out.paint("  [" + decision.layer + ": " + decision.rule + (decision.place.empty() ? "" : ", " + decision.place) + "]", Tone::faint));
      }
      if (shown > limit)
        out.line("  ... and " + std::to_string(shown - limit) + " more (--all or --json lists them)");
    };
    if (!outgoing.allowed) {
      out.line(out.paint("Refused: what goes along with the files (command, arguments, environment, names)", Tone::bad));
      out.line("      " + clean_line(outgoing.reason) + out.paint("  [built-in]", Tone::faint));
    }
    section(FileVerdict::refused, "Refused: declared, but must not leave", Tone::bad, std::size_t(-1));
    section(FileVerdict::excluded, "Excluded by you", Tone::plain, m_all ? std::size_t(-1) : 10);
    section(FileVerdict::not_proposed, "Not declared: stays here", Tone::plain, m_all ? std::size_t(-1) : 10);
    section(FileVerdict::approved, "Would leave", Tone::good, m_all ? std::size_t(-1) : 30);
    out.line();
    const auto& totals = judgement.totals;
    out.line("For " + (host.name == k_no_host ? "a host of which nothing is recorded (none is known yet)" : "host " + host.name) + ": " + std::to_string(totals.approved) + " files (" + human_bytes(totals.approved_bytes) + ") would leave, " + std::to_string(totals.refused) + " are refused, " + std::to_string(totals.excluded) + " excluded, " +
             std::to_string(totals.not_proposed) + " not declared. Nothing was sent.");
    if (!outgoing.allowed)
      out.line("A run stops before connecting as long as its command or environment is refused: take what is named out of [run] in remotemac.toml.");
    if (totals.refused > 0)
      out.line("A run stops before connecting as long as a declared file is refused: exclude it, or narrow include.");
    out.line("\"No finding\" means that no rule found something, not that a file holds no personal data.");
  }

  std::string m_host;
  std::string m_project = ".";
  bool m_check = false;
  bool m_all = false;
};
} // namespace

std::unique_ptr<Command> make_plan();
std::unique_ptr<Command> make_plan() { return std::make_unique<PlanCommand>(); }

} // namespace remotemac::cli
