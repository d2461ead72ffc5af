#include "cli/survey/requirement_files.h"

#include "cli/survey/requirement.h"
#include "cli/survey/signals.h"
#include "common/text.h"

#include <cctype>

namespace remotemac::survey {
namespace {
// setup.cfg: sections, keys, indented values.
struct IniLine {
  std::string section;
  std::string key;
  std::string value;
  int line = 0;
};

std::vector<IniLine> ini_lines(const std::string& text) {
  std::vector<IniLine> out;
  std::string section;
  std::string key;
  int number = 0;
  for (const std::string& raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';')
      continue;
    if (raw.front() == ' ' || raw.front() == '\t') {
      out.push_back({section, key, std::string(line), number});
      continue;
    }
    if (line.front() == '[') {
      section = std::string(line.substr(1, line.find(']') - 1));
      key.clear();
      continue;
    }
    const std::size_t equal = line.find_first_of("=:");
    if (equal == std::string_view::npos)
      continue;
    key = std::string(trim(line.substr(0, equal)));
    out.push_back({section, key, std::string(trim(line.substr(equal + 1))), number});
  }
  return out;
}
} // namespace

bool is_cuda_index(std::string_view url) {
  const std::string lower = to_lower_ascii(url);
  for (std::size_t at = lower.find("/cu"); at != std::string::npos; at = lower.find("/cu", at + 1))
    if (at + 3 < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at + 3])) != 0)
      return true;
  return lower.find("pypi.nvidia.com") != std::string::npos || lower.find("pypi.ngc.nvidia.com") != std::string::npos;
}

void add_index(RequirementFindings& out, std::string_view url, const std::string& file, int line) {
  if (is_cuda_index(url))
    out.signals.push_back(make_signal(*known_signal("cuda-index"), file, line, "a package index for CUDA", Reach::maybe, false));
}

void add_parsed(RequirementFindings& out, SurveyRequirement requirement) {
  if (requirement.specifier.find("+cu") != std::string::npos && !requirement.skipped_on_mac)
    out.signals.push_back(make_signal(*known_signal("cuda-wheel"), requirement.file, requirement.line,
                                      requirement.name + requirement.specifier, Reach::maybe, false));
  out.requirements.push_back(std::move(requirement));
}

void add_requirement(RequirementFindings& out, std::string_view text, SurveyRequirement place) {
  std::optional<SurveyRequirement> parsed = parse_requirement(text);
  if (!parsed) {
    out.gaps.push_back({place.file + ":" + std::to_string(place.line), "is not a requirement that can be read"});
    return;
  }
  parsed->group = std::move(place.group);
  parsed->reader = std::move(place.reader);
  parsed->file = std::move(place.file);
  parsed->line = place.line;
  add_parsed(out, std::move(*parsed));
}

void read_setup_cfg(const std::string& text, const std::string& file, RequirementFindings& out) {
  for (const IniLine& line : ini_lines(text)) {
    const bool extra = line.section == "options.extras_require";
    if (line.value.empty() || (!extra && !(line.section == "options" && line.key == "install_requires")))
      continue;
    SurveyRequirement place; // one requirement per line, which is how setuptools writes lists
    place.group = extra ? line.key : "";
    place.reader = "setup.cfg";
    place.file = file;
    place.line = line.line;
    add_requirement(out, line.value, std::move(place));
  }
}

RequirementFindings read_requirement_files(const ProjectFiles& files) {
  RequirementFindings out;
  read_pip_files(files, out);
  for (const auto& [path, size] : files.all()) {
    const std::string_view base = base_of(path);
    const bool conda = (base.starts_with("environment") || base.starts_with("conda") || base.starts_with("env.")) &&
                       (base.ends_with(".yml") || base.ends_with(".yaml"));
    if (base == "pyproject.toml")
      read_pyproject(files.read(path, out.gaps), path, out);
    else if (base == "setup.cfg")
      read_setup_cfg(files.read(path, out.gaps), path, out);
    else if (conda)
      read_conda(files.read(path, out.gaps), path, out);
    else if (base == "Pipfile")
      out.gaps.push_back({path, "Pipfiles are not read; export one with pipenv requirements > requirements.txt"});
  }
  return out;
}

} // namespace remotemac::survey
