#include "cli/project_file.h"

#include "common/file_system.h"
#include "common/key_doc.h"
#include "common/text.h"
#include "common/toml_file.h"

namespace remotemac::cli {
namespace {
// The documentation of every key below; a test compares it with what the reader knows.
constexpr KeyDoc k_keys[] = {
    {"[project]", "name", "text", "name of the project in jobs, reports and the audit log"},
    {"[project]", "purpose", "coursework, cuda-extensions, reproducibility, macos-behaviour, long-training", "what the Mac is wanted for; decides which criteria a verdict needs"},
    {"[project]", "scale", "mini, real", "does the run have the model and inputs of the real task (real), or is it a reduced one (mini, the default)? A claim about long training needs real"},
    {"[run]", "command", "list of texts", "arguments for the environment's Python: a script and its arguments, or \"-m\", a module and its arguments"},
    {"[run]", "outputs", "list of paths", "files that the run writes, to be brought back and compared"},
    {"[run]", "requirements", "list of paths", "requirement files installed into the job's environment"},
    {"[run]", "env", "table of texts", "environment variables of the run"},
    {"[run]", "profile", "quick, standard, full", "how thorough the machine battery is (quick)"},
    {"[run]", "wall_time", "time", "limit of each step (30m)"},
    {"[run]", "job_time", "time", "limit of the whole job without the environment stage (1h)"},
    {"[run]", "output_limit", "size", "limit of the outputs (1GiB)"},
    {"[run]", "disk_limit", "size", "limit of the job's working folder (10GiB)"},
    {"[run]", "log_limit", "size", "limit of each log stream (64MiB)"},
    {"[run]", "keep", "time", "how long the host keeps the job (7d)"},
    {"[compare]", "tolerance", "table \"file:key\" = { abs = x, rel = y }", "allowed differences of outputs; the defaults follow the data type"},
};

Result<std::vector<RelPath>> paths(TomlReader& reader, const TomlValue& table, std::string_view key) {
  std::vector<RelPath> out;
  for (const std::string& text : reader.texts(key)) {
    Result<RelPath> path = RelPath::create(text);
    if (!path)
      reader.complain(*table.find(key), path.error().message(), "paths are relative to the project folder, for example \"outputs.npz\"");
    else
      out.push_back(std::move(*path));
  }
  return out;
}

Result<void> read_project(const TomlValue& table, const std::string& file, ProjectFile& out) {
  TomlReader reader(table, file, "[project]");
  out.name = reader.text("name").value_or("");
  out.purpose = reader.word("purpose", {"coursework", "cuda-extensions", "reproducibility", "macos-behaviour", "long-training"}).value_or("coursework");
  out.scale = reader.word("scale", {"mini", "real"}).value_or("mini");
  if (out.name.empty() || out.name.size() > 200 || clean_line(out.name) != out.name)
    reader.complain(table, "[project] needs a name", "write for example: name = \"my-study\"");
  return reader.finish();
}

Result<void> read_run(const TomlValue& table, const std::string& file, ProjectFile& out) {
  TomlReader reader(table, file, "[run]");
  out.command = reader.texts("command");
  RM_ASSIGN(out.outputs, paths(reader, table, "outputs"));
  RM_ASSIGN(out.requirements, paths(reader, table, "requirements"));
  out.env = reader.text_map("env");
  out.profile = reader.word("profile", {"quick", "standard", "full"}).value_or("");
  out.limits.step_wall_s = reader.seconds("wall_time").value_or(out.limits.step_wall_s);
  out.limits.wall_s = reader.seconds("job_time").value_or(std::max(out.limits.wall_s, out.limits.step_wall_s * 2));
  out.limits.output_bytes = reader.bytes("output_limit").value_or(out.limits.output_bytes);
  out.limits.disk_bytes = reader.bytes("disk_limit").value_or(out.limits.disk_bytes);
  out.limits.log_bytes = reader.bytes("log_limit").value_or(out.limits.log_bytes);
  out.keep_s = reader.seconds("keep").value_or(out.keep_s);
  return reader.finish();
}

Result<void> read_compare(const TomlValue& table, const std::string& file, ProjectFile& out) {
  TomlReader reader(table, file, "[compare]");
  if (const TomlValue* tolerance = reader.table("tolerance")) {
    for (const auto& [name, value] : tolerance->members) {
      TomlReader entry(value, file, "the tolerance of '" + name + "'");
      Tolerance limits{entry.number("abs"), entry.number("rel")};
      if (name.find(':') == std::string::npos)
        entry.complain(value, "'" + name + "' must be \"file:key\", for example \"metrics.json:accuracy\"");
      if ((limits.absolute && !(*limits.absolute >= 0)) || (limits.relative && !(*limits.relative >= 0)))
        entry.complain(value, "a tolerance must not be negative");
      RM_TRY(entry.finish());
      out.tolerances[name] = limits;
    }
  }
  return reader.finish();
}
} // namespace

Result<std::filesystem::path> find_project_root(const std::filesystem::path& start) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::absolute(start, ignored).lexically_normal();
  if (!folder.has_filename())
    folder = folder.parent_path();
  while (true) {
    if (std::filesystem::exists(folder / k_project_file_name, ignored))
      return folder;
    if (folder == folder.parent_path())
      break;
    folder = folder.parent_path();
  }
  return Error(ErrorCode::project, "no " + std::string(k_project_file_name) + " in " + clean_line(start.string(), 500) + " or above it",
               "run 'remotemac init' in the project folder, or name the folder with --project");
}

Result<ProjectFile> parse_project_file(const std::string& text, const std::string& file_name) {
  ProjectFile out;
  out.file_text = text;
  RM_ASSIGN(const TomlValue document, parse_toml(text, file_name));
  TomlReader reader(document, file_name, "the file");
  for (const char* policy_table : {"data", "exclude", "rule"})
    reader.know(policy_table);
  const TomlValue* project = reader.table("project");
  const TomlValue* run = reader.table("run");
  const TomlValue* compare = reader.table("compare");
  RM_TRY(reader.finish());
  if (project == nullptr)
    return Error(ErrorCode::config, file_name + ":1:1: the table [project] is missing", "write [project] with name = \"...\" and purpose = \"coursework\"");
  RM_TRY(read_project(*project, file_name, out));
  if (run != nullptr)
    RM_TRY(read_run(*run, file_name, out));
  if (compare != nullptr)
    RM_TRY(read_compare(*compare, file_name, out));
  return out;
}

Result<ProjectFile> read_project_file(const std::filesystem::path& root) {
  PosixFileSystem disk;
  RM_ASSIGN_WHILE("reading the project file", const std::string text, disk.read_file(root / k_project_file_name, 4u << 20));
  RM_ASSIGN(ProjectFile out, parse_project_file(text, k_project_file_name));
  out.root = root;
  return out;
}

std::string project_file_reference() { return key_table(k_keys); }

} // namespace remotemac::cli
