#include "cli/command.h"
#include "cli/init_scan.h"
#include "cli/project_file.h"
#include "common/file_system.h"
#include "common/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
class InitCommand final : public Command {
public:
  void declare(CLI::App& app) override { app.add_option("--project", m_project, "project folder (the current one)"); }

  Result<int> run(Context& context) override {
    std::error_code ignored;
    const std::filesystem::path root = std::filesystem::absolute(m_project, ignored).lexically_normal();
    const std::filesystem::path file = root / k_project_file_name;
    PosixFileSystem disk;
    if (disk.exists(file))
      return Error(ErrorCode::usage, std::string(k_project_file_name) + " exists already; init never overwrites it", "edit it, or move it away first");
    RM_ASSIGN_WHILE("looking at the project", const InitScan scan, scan_for_init(root.has_filename() ? root : root.parent_path()));
    RM_TRY(disk.write_atomic(file, draft_project_file(scan), 0644));
    show(context.out, scan);
    return 0;
  }

private:
  static void show(Output& out, const InitScan& scan) {
    out.line("Wrote " + std::string(k_project_file_name) + ". It allows nothing yet.");
    out.line();
    out.line("  Python files       " + std::to_string(scan.python_files));
    out.line("  entry points       " + (scan.entries.empty() ? "none found: write [run] command yourself" : clean_line(join(scan.entries, ", "))));
    out.line("  requirement files  " + (scan.requirements.empty() ? "none found" : clean_line(join(scan.requirements, ", "))));
    if (!scan.settings.empty())
      out.line("  settings           " + clean_line(join(scan.settings, ", ")));
    for (const DataFolder& folder : scan.data)
      out.line("  data               " + clean_line(folder.path) + ": " + std::to_string(folder.files) + (folder.files == 1 ? " file, " : " files, ") + human_bytes(folder.bytes) + " (" + clean_line(join(folder.kinds, " ")) + ")");
    if (scan.limited)
      out.warn("the project is large: only the first 200 000 entries were looked at");
    out.line();
    out.line("Next: 1. check [run] command and outputs  2. declare what may leave in [[data]]  3. remotemac plan");
    nlohmann::json data = nlohmann::json::array();
    for (const DataFolder& folder : scan.data)
      data.push_back({{"path", folder.path}, {"files", folder.files}, {"size_bytes", folder.bytes}, {"kinds", folder.kinds}});
    out.json({{"file", k_project_file_name}, {"name", scan.name}, {"entries", scan.entries}, {"requirements", scan.requirements}, {"settings", scan.settings}, {"data", data}, {"python_files", scan.python_files}});
  }

  std::string m_project = ".";
};
} // namespace

std::unique_ptr<Command> make_init();
std::unique_ptr<Command> make_init() { return std::make_unique<InitCommand>(); }

} // namespace remotemac::cli
