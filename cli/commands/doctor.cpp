#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/hosts.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
const char* word(CheckStatus status) {
  switch (status) {
  case CheckStatus::good: return "ok";
  case CheckStatus::warning: return "warning";
  case CheckStatus::bad: return "problem";
  case CheckStatus::skipped: return "skipped";
  }
  return "";
}

Tone tone(CheckStatus status) { return status == CheckStatus::good ? Tone::good : status == CheckStatus::bad ? Tone::bad : status == CheckStatus::warning ? Tone::warning : Tone::faint; }

class DoctorCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("--host", m_host, "also check this host (connects to it)");
    app.add_option("--project", m_project, "project folder (the current one)");
  }

  Result<int> run(Context& context) override {
    std::vector<CheckResult> checks = check_machine(context);
    for (CheckResult& each : check_project(context, m_project))
      checks.push_back(std::move(each));
    if (!m_host.empty()) {
      RM_ASSIGN(const HostStore store, HostStore::load(context.paths, context.config));
      RM_ASSIGN(const HostRecord host, store.find(m_host));
      for (CheckResult& each : check_host(context, host))
        checks.push_back(std::move(each));
    }
    bool bad = false;
    nlohmann::json list = nlohmann::json::array();
    for (const CheckResult& check : checks) {
      bad = bad || check.status == CheckStatus::bad;
      list.push_back({{"name", check.name}, {"status", word(check.status)}, {"detail", check.detail}, {"hint", check.hint}});
      char label[24];
      std::snprintf(label, sizeof label, "%-8s", word(check.status));
      context.out.line(context.out.paint(label, tone(check.status)) + " " + check.name + (check.detail.empty() ? "" : ": " + clean_line(check.detail)));
      if (!check.hint.empty() && check.status != CheckStatus::good)
        context.out.line("         try: " + clean_line(check.hint));
    }
    context.out.json({{"checks", list}, {"problems", bad}});
    return bad ? 1 : 0;
  }

private:
  std::string m_host;
  std::string m_project = ".";
};
} // namespace

std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_doctor() { return std::make_unique<DoctorCommand>(); }

} // namespace remotemac::cli
