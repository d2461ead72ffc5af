// requirements*.txt: lines, continuations, options, and the files they include.
#include "cli/survey/requirement_files.h"
#include "common/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace remotemac::survey {
namespace {
constexpr std::array<std::string_view, 6> k_main_groups = {"", "base", "main", "prod", "core", "common"};

class PipReader {
public:
  PipReader(const ProjectFiles& files, RequirementFindings& out) : m_files(files), m_out(out) {}

  void read(const std::string& file, const std::string& group) {
    if (!m_seen.insert(file).second)
      return;
    m_open.push_back(file);
    int number = 0;
    std::string line;
    int begin = 0;
    for (const std::string& raw : split(m_files.read(file, m_out.gaps), '\n')) {
      ++number;
      if (line.empty())
        begin = number;
      std::string_view part = raw;
      if (part.ends_with('\r'))
        part.remove_suffix(1);
      if (part.ends_with('\\')) {
        line += std::string(part.substr(0, part.size() - 1)) + " ";
        continue;
      }
      line += part;
      take_line(line, file, begin, group);
      line.clear();
    }
    if (!line.empty())
      take_line(line, file, begin, group);
    m_open.pop_back();
  }

private:
  void take_line(std::string_view line, const std::string& file, int number, const std::string& group) {
    line = trim(line);
    if (line.starts_with('#'))
      return;
    line = trim(line.substr(0, std::min(line.find(" #"), line.find("\t#"))));
    if (line.empty())
      return;
    if (!line.starts_with('-')) {
      line = trim(line.substr(0, std::min(line.find(" --"), line.find("\t--")))); // --hash and the like
      add(line, file, number, group);
      return;
    }
    const std::size_t end = line.find_first_of(" =\t");
    std::string_view option = line.substr(0, end);
    std::string_view value = end == std::string_view::npos ? std::string_view() : trim(line.substr(end + 1));
    if (option.size() > 2 && option[1] != '-') { // "-rbase.txt"
      value = trim(line.substr(2));
      option = option.substr(0, 2);
    }
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    take_option(option, value, file, number, group);
  }

  void take_option(std::string_view option, std::string_view value, const std::string& file, int number, const std::string& group) {
    if (option == "-r" || option == "--requirement")
      include(value, file, number, group);
    else if (option == "-e" || option == "--editable")
      add(value.find("://") == std::string_view::npos && !value.starts_with('.') ? "./" + std::string(value) : std::string(value), file, number, group);
    else if (option == "-i" || option == "--index-url" || option == "--extra-index-url" || option == "-f" || option == "--find-links")
      add_index(m_out, value, file, number);
    // -c limits versions only, and the others (--pre, --no-binary, ...) say nothing about what is needed.
  }

  void include(std::string_view value, const std::string& file, int number, const std::string& group) {
    const std::string place = file + ":" + std::to_string(number);
    const std::string target = inside_project(folder_of(file), value);
    if (target.empty()) {
      m_out.gaps.push_back({place, "includes a file outside of the project; not read"});
      return;
    }
    if (std::ranges::find(m_open, target) != m_open.end()) {
      m_out.gaps.push_back({place, "includes " + clean_line(target) + ", which is being read already: a circle"});
      return;
    }
    if (!m_files.has(target)) {
      m_out.gaps.push_back({place, "includes " + clean_line(target) + ", which is missing or a link"});
      return;
    }
    if (m_open.size() >= 20)
      m_out.gaps.push_back({place, "includes files more than 20 deep; not read"});
    else
      read(target, group);
  }

  void add(std::string_view text, const std::string& file, int number, const std::string& group) {
    SurveyRequirement place;
    place.group = group;
    place.reader = "pip";
    place.file = file;
    place.line = number;
    add_requirement(m_out, text, std::move(place));
  }

  const ProjectFiles& m_files;
  RequirementFindings& m_out;
  std::set<std::string> m_seen;
  std::vector<std::string> m_open;
};

bool is_requirement_file(const std::string& path) {
  const std::string_view base = base_of(path);
  if (!base.ends_with(".txt") && !base.ends_with(".in"))
    return false;
  return base.find("requirements") != std::string_view::npos || ("/" + folder_of(path)).ends_with("/requirements/");
}

// requirements.txt -> "", requirements-dev.txt and requirements/dev.txt -> "dev", tools/requirements.txt -> "tools"
std::string group_of(const std::string& path) {
  std::string base(base_of(path));
  base = base.substr(0, base.rfind('.'));
  std::string folder = folder_of(path);
  if (const std::size_t at = base.find("requirements"); at != std::string::npos)
    base.erase(at, std::string_view("requirements").size());
  base = std::string(base.substr(std::min(base.find_first_not_of("-_."), base.size())));
  while (!base.empty() && (base.back() == '-' || base.back() == '_' || base.back() == '.'))
    base.pop_back();
  if (("/" + folder).ends_with("/requirements/"))
    folder.erase(folder.size() - std::string_view("requirements/").size());
  if (std::ranges::find(k_main_groups, base) != k_main_groups.end())
    base.clear();
  if (!folder.empty())
    folder.pop_back();
  return base.empty() ? folder : folder.empty() ? base : folder + "/" + base;
}
} // namespace

void read_pip_files(const ProjectFiles& files, RequirementFindings& out) {
  PipReader reader(files, out);
  // Files of no group first, so that what they include counts as always installed.
  for (const bool main : {true, false})
    for (const auto& [path, size] : files.all())
      if (is_requirement_file(path) && group_of(path).empty() == main)
        reader.read(path, group_of(path));
}

} // namespace remotemac::survey
