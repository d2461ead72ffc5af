#include "cli/init_scan.h"

#include "common/toml_file.h"
#include "common/file_system.h"
#include "common/text.h"

#include <algorithm>
#include <map>

namespace remotemac::cli {
namespace {
constexpr std::string_view k_skipped_folders[] = {".git", ".venv", "venv", "env", "node_modules", "__pycache__", ".remotemac", "build", "dist", ".tox", ".mypy_cache", ".ipynb_checkpoints", "wandb", "mlruns"};
constexpr std::string_view k_code_endings[] = {".py", ".pyi", ".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".yml", ".yaml", ".sh", ".ipynb", ".cu", ".cuh", ".cpp", ".h", ".c", ".gitignore", ".lock", "makefile", "dockerfile", "license"};
constexpr std::string_view k_settings_endings[] = {".yml", ".yaml", ".cfg", ".ini", ".toml"};
constexpr std::size_t k_settings_max = 8;
constexpr std::string_view k_likely_entries[] = {"train.py", "main.py", "run.py", "experiment.py", "finetune.py", "demo.py", "infer.py", "evaluate.py", "test.py"};

template <typename List> bool holds(const List& list, std::string_view value) { return std::find(std::begin(list), std::end(list), value) != std::end(list); }

std::string ending_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return to_lower_ascii(dot == std::string::npos ? name : name.substr(dot));
}

bool is_requirement_file(const std::string& name) {
  const std::string lower = to_lower_ascii(name);
  return lower.starts_with("requirements") && lower.ends_with(".txt");
}

class Scanner {
public:
  explicit Scanner(std::filesystem::path root) : m_root(std::move(root)) {}

  Result<InitScan> run() {
    m_scan.name = m_root.filename().string();
    RM_TRY(walk(m_root, ""));
    std::stable_sort(m_entries.begin(), m_entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [rank, path] : m_entries) {
      if (m_scan.entries.size() < 8)
        m_scan.entries.push_back(std::move(path));
    }
    for (auto& [path, folder] : m_folders) {
      std::vector<std::pair<std::uint64_t, std::string>> kinds;
      for (const auto& [kind, count] : folder.kinds)
        kinds.emplace_back(count, kind);
      std::sort(kinds.rbegin(), kinds.rend());
      DataFolder out{path, folder.files, folder.bytes, {}};
      for (std::size_t i = 0; i < std::min<std::size_t>(kinds.size(), 5); ++i)
        out.kinds.push_back(kinds[i].second);
      m_scan.data.push_back(std::move(out));
    }
    return std::move(m_scan);
  }

private:
  struct Counted {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::map<std::string, std::uint64_t> kinds;
  };

  Result<void> walk(const std::filesystem::path& folder, const std::string& relative) {
    RM_ASSIGN(const std::vector<DirEntry> entries, m_disk.list(folder));
    for (const DirEntry& entry : entries) {
      if (++m_seen > 200'000) {
        m_scan.limited = true;
        return ok();
      }
      const std::string path = relative.empty() ? entry.name : relative + "/" + entry.name;
      if (entry.kind == EntryKind::directory && !holds(k_skipped_folders, entry.name))
        RM_TRY(walk(folder / entry.name, path));
      if (entry.kind == EntryKind::file)
        RM_TRY(look_at(folder / entry.name, path, entry.name));
    }
    return ok();
  }

  Result<void> look_at(const std::filesystem::path& file, const std::string& path, const std::string& name) {
    const std::string ending = ending_of(name);
    if (is_requirement_file(name))
      m_scan.requirements.push_back(path);
    if (ending == ".py") {
      ++m_scan.python_files;
      rank_entry(file, path, name);
    }
    if (holds(k_settings_endings, ending) && name.front() != '.' && path != "remotemac.toml")
      note_settings(path, ending);
    if (holds(k_code_endings, ending) || name.front() == '.')
      return ok();
    RM_ASSIGN(const FileStat info, m_disk.stat(file));
    const std::size_t slash = path.find('/');
    Counted& counted = m_folders[slash == std::string::npos ? "." : path.substr(0, slash)];
    ++counted.files;
    counted.bytes += info.size_bytes;
    ++counted.kinds[ending];
    return ok();
  }

  void note_settings(const std::string& path, const std::string& ending) {
    const std::size_t slash = path.rfind('/');
    const std::string pattern = (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + "*" + ending;
    if (!holds(m_scan.settings, pattern) && m_scan.settings.size() < k_settings_max)
      m_scan.settings.push_back(pattern);
  }

  void rank_entry(const std::filesystem::path& file, const std::string& path, const std::string& name) {
    const auto depth = std::count(path.begin(), path.end(), '/');
    const auto likely = std::find(std::begin(k_likely_entries), std::end(k_likely_entries), name);
    const Result<std::string> text = m_disk.read_range(file, 0, 1u << 20);
    const bool guard = text && text->find("__name__") != std::string::npos && text->find("__main__") != std::string::npos;
    if (likely == std::end(k_likely_entries) && !guard)
      return;
    const auto named = static_cast<long>(likely - std::begin(k_likely_entries));
    m_entries.emplace_back(static_cast<long>(depth) * 100 + named + (guard ? 0 : 20), path);
  }

  std::filesystem::path m_root;
  PosixFileSystem m_disk;
  InitScan m_scan;
  std::vector<std::pair<long, std::string>> m_entries;
  std::map<std::string, Counted> m_folders;
  std::uint64_t m_seen = 0;
};

std::string quoted_list(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const std::string& item : items)
    quoted.push_back(toml_quote(item));
  return "[" + join(quoted, ", ") + "]";
}

std::vector<std::string> source_patterns(const InitScan& scan) {
  std::vector<std::string> out{"**/*.py"};
  out.insert(out.end(), scan.requirements.begin(), scan.requirements.end());
  out.insert(out.end(), scan.settings.begin(), scan.settings.end());
  return out;
}

std::string files_text(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " file" : " files"); }
} // namespace

Result<InitScan> scan_for_init(const std::filesystem::path& root) { return Scanner(root).run(); }

std::string draft_project_file(const InitScan& scan) {
  std::string out = "# remotemac: what to run, and what may leave. Nothing is allowed until you declare it below.\n"
                    "# Meaning of every key: docs/config.md; rules of the data gate: docs/policy.md\n\n"
                    "[project]\nname = " + toml_quote(scan.name) + "\n"
                    "# What the Mac is wanted for; it decides which criteria the verdict needs:\n"
                    "# coursework | cuda-extensions | reproducibility | macos-behaviour | long-training\n"
                    "purpose = \"coursework\"\n\n[run]\n"
                    "# The mini-run: small, but with the operations that matter. Arguments for the environment's Python.\n";
  out += scan.entries.empty() ? "# command = [\"train.py\", \"--epochs\", \"1\"]\n" : "command = " + quoted_list({scan.entries.front()}) + "\n";
  for (std::size_t i = 1; i < scan.entries.size(); ++i)
    out += "# or: command = " + quoted_list({scan.entries[i]}) + "\n";
  out += "# Files that the run writes, to be brought back and compared with the reference run:\n# outputs = [\"metrics.json\", \"outputs.npz\"]\n";
  out += scan.requirements.empty() ? "# requirements = [\"requirements.txt\"]\n" : "requirements = " + quoted_list(scan.requirements) + "\n";
  out += "# wall_time = \"10m\"\n\n"
         "# [compare]\n# tolerance = { \"metrics.json:accuracy\" = { abs = 0.02 } }\n\n"
         "# What may leave. Patterns only propose; every file is inspected, and what cannot be read to the end is refused.\n"
         "# Classes: code, synthetic, anonymized, released. Take the leading '#' away where it is true for your project.\n\n"
         "# [[data]]\n# name = \"source\"\n# class = \"code\"\n# include = " + quoted_list(source_patterns(scan)) + "\n";
  for (const DataFolder& folder : scan.data) {
    const std::string pattern = folder.path == "." ? "*" + (folder.kinds.empty() ? std::string() : folder.kinds.front()) : folder.path + "/**";
    out += "\n# " + clean_line(folder.path, 200) + ": " + files_text(folder.files) + ", " + human_bytes(folder.bytes) + " (" + clean_line(join(folder.kinds, " "), 200) + ")\n"
           "# [[data]]\n# name = " + toml_quote(folder.path == "." ? "files" : folder.path) + "\n# include = [" + toml_quote(pattern) + "]\n"
           "# class = \"synthetic\"       # needs: generator, source (none | public | personal), seed, regeneration_sha256\n"
           "# class = \"anonymized\"      # needs: method, assessor, date, reassess_by, quasi_identifiers, k\n"
           "# class = \"released\"        # needs: license, source, version, redistribution = true\n";
  }
  out += "\n# [[exclude]]\n# paths = [\"data/private/**\"]\n# reason = \"why these files stay here\"\n";
  return out;
}

} // namespace remotemac::cli
