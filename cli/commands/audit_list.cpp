#include "cli/audit.h"
#include "cli/command.h"
#include "common/json.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
using nlohmann::json;

std::string describe(const json& record) {
  const std::string type = json_text(record, "type");
  const json& totals = json_at(record, "totals");
  const std::string snapshot = json_text(record, "snapshot").substr(0, 12);
  const bool local = json_flag(json_at(record, "host"), "local");
  if (type == "transfer-allowed")
    return (local ? "for this machine: " : "may leave: ") + std::to_string(json_int(totals, "approved")) + " files, " + human_bytes(static_cast<std::uint64_t>(json_int(totals, "approved_bytes"))) + ", snapshot " + snapshot + ", project " + clean_line(json_text(record, "project"), 80);
  if (type == "transfer-finished")
    return (local ? "copied: " : "left: ") + human_bytes(static_cast<std::uint64_t>(json_int(record, "bytes_sent"))) + " in " + std::to_string(json_int(record, "chunks_sent")) + " chunks, snapshot " + snapshot;
  if (type == "transfer-refused")
    return "refused: " + std::to_string(json_int(totals, "refused")) + " files" + (json_text(record, "command_refused").empty() ? "" : " and the command or environment") + ", nothing sent, project " + clean_line(json_text(record, "project"), 80);
  return clean_line(json_text(record, "note"), 200);
}

class AuditListCommand final : public Command {
public:
  void declare(CLI::App& app) override {
    app.add_option("--host", m_host, "only records about this host");
    app.add_option("--type", m_type, "only records of this type, for example transfer-allowed");
  }

  Result<int> run(Context& context) override {
    PosixFileSystem disk;
    const policies::AuditLog log(disk, audit_folder(context));
    RM_ASSIGN(const std::vector<json> records, log.records());
    json all = json::array();
    for (const json& record : records) {
      const std::string host = json_text(json_at(record, "host"), "name");
      const std::string type = json_text(record, "type");
      if ((!m_host.empty() && host != m_host) || (!m_type.empty() && type != m_type))
        continue;
      const Tone tone = type == "transfer-refused" ? Tone::bad : type == "transfer-allowed" ? Tone::good : Tone::plain;
      context.out.line(std::to_string(json_int(record, "seq")) + "  " + clean_line(json_text(record, "time"), 40) + "  " + context.out.paint(clean_line(type, 40), tone) + (host.empty() ? "" : "  host " + clean_line(host, 80)) + "  " + describe(record));
      all.push_back(record);
    }
    if (all.empty())
      context.out.line("no records" + std::string(records.empty() ? " yet: nothing was sent and nothing refused" : " fit"));
    else
      context.out.line("These lines are only as good as their log: remotemac audit verify");
    context.out.json({{"records", all}});
    return 0;
  }

private:
  std::string m_host;
  std::string m_type;
};
} // namespace

std::unique_ptr<Command> make_audit_list();
std::unique_ptr<Command> make_audit_list() { return std::make_unique<AuditListCommand>(); }

} // namespace remotemac::cli
