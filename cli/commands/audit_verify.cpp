#include "cli/audit.h"
#include "cli/command.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class AuditVerifyCommand final : public Command {
public:
  void declare(CLI::App&) override {}

  Result<int> run(Context& context) override {
    PosixFileSystem disk;
    const policies::AuditLog log(disk, audit_folder(context));
    RM_ASSIGN(const policies::AuditVerification found, log.verify());
    nlohmann::json problems = nlohmann::json::array();
    for (const policies::AuditProblem& problem : found.problems) {
      context.out.line(context.out.paint(problem.line > 0 ? "line " + std::to_string(problem.line) : "the log", Tone::bad) + " " + clean_line(problem.what, 500));
      problems.push_back({{"line", problem.line}, {"what", problem.what}});
    }
    for (const std::string& note : found.notes)
      context.out.line("note: " + clean_line(note, 500));
    if (found.sound()) {
      context.out.line(context.out.paint("sound", Tone::good) + ": " + std::to_string(found.records) + " records, none changed, removed or reordered");
      context.out.line("root " + found.root + " (keep it elsewhere: a later log must still contain it)");
    } else {
      context.out.line(context.out.paint("NOT sound", Tone::bad) + ": " + std::to_string(found.problems.size()) + " problems in " + (audit_folder(context) / "audit.jsonl").string());
      context.out.line("Keep this log as evidence. To go on working, move the folder away; a new log begins with the next record.");
    }
    context.out.json({{"sound", found.sound()}, {"records", found.records}, {"root", found.root}, {"problems", problems}, {"notes", found.notes}});
    return found.sound() ? 0 : 1;
  }
};
} // namespace

std::unique_ptr<Command> make_audit_verify();
std::unique_ptr<Command> make_audit_verify() { return std::make_unique<AuditVerifyCommand>(); }

} // namespace remotemac::cli
