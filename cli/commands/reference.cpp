#include "cli/command.h"
#include "cli/reference.h"
#include "cli/workflow.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class ReferenceCommand final : public Command {
public:
  void declare(CLI::App& app) override { app.add_option("--project", m_project, "project folder (the current one)"); }

  Result<int> run(Context& context) override {
    RM_ASSIGN(const std::filesystem::path root, find_project_root(m_project));
    RM_ASSIGN(const ProjectFile project, read_project_file(root));
    RM_ASSIGN(const JobDone done, make_reference_run(context, project));
    if (done.end != JobEnd::collected) {
      context.out.json({{"reference", done.info.id}, {"job", done.info.job}, {"state", done.info.state}});
      return exit_status(ErrorCode::interrupted);
    }
    RM_ASSIGN(const ReferenceSummary summary, summarize_reference(project, done.info));
    context.out.line("Reference " + done.info.id + ": " + summary.text);
    context.out.json({{"reference", done.info.id}, {"job", done.info.job}, {"device", summary.device}, {"usable", summary.usable}, {"signatures", summary.signatures}});
    return summary.usable ? 0 : 2;
  }

private:
  std::string m_project = ".";
};
} // namespace

std::unique_ptr<Command> make_reference();
std::unique_ptr<Command> make_reference() { return std::make_unique<ReferenceCommand>(); }

} // namespace remotemac::cli
