// environment.yml: not a YAML reader, only the shape that conda writes and people copy: lists of plain words by indentation.
#include "cli/survey/packages.h"
#include "cli/survey/requirement_files.h"
#include "common/text.h"

namespace remotemac::survey {
namespace {
std::string_view unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

class CondaReader {
public:
  CondaReader(const std::string& file, RequirementFindings& out) : m_file(file), m_out(out) {}

  void take(std::string_view raw, int number) {
    if (raw.ends_with('\r'))
      raw.remove_suffix(1);
    raw = raw.substr(0, raw.find(" #"));
    const std::size_t indent = raw.find_first_not_of(' ');
    if (indent == std::string_view::npos || raw[indent] == '#')
      return;
    std::string_view line = trim(raw);
    if (!line.starts_with("- ")) {
      if (indent == 0) {
        m_key = std::string(line.substr(0, line.find(':')));
        m_in_pip = false;
        const std::string_view rest = line.find(':') == std::string_view::npos ? std::string_view() : trim(line.substr(line.find(':') + 1));
        if (m_key == "dependencies" && !rest.empty())
          m_out.gaps.push_back({m_file + ":" + std::to_string(number), "a list on one line is not read; write one dependency per line"});
      }
      return;
    }
    if (m_in_pip && indent <= m_pip_indent)
      m_in_pip = false;
    const std::string_view item = unquoted(line.substr(2));
    if (m_key == "channels" && (item == "nvidia" || item.starts_with("nvidia/")))
      add_index(m_out, "https://pypi.nvidia.com", m_file, number); // for Linux and Windows only, as NVIDIA's Python index
    if (m_key != "dependencies")
      return;
    if (item == "pip:") {
      m_in_pip = true;
      m_pip_indent = indent;
    } else if (m_in_pip) {
      pip_item(item, number);
    } else {
      conda_item(item, number);
    }
  }

private:
  SurveyRequirement place(const char* reader, int number) const {
    SurveyRequirement out;
    out.reader = reader;
    out.file = m_file;
    out.line = number;
    return out;
  }

  void pip_item(std::string_view item, int number) {
    if (!item.starts_with('-')) {
      add_requirement(m_out, item, place("conda", number));
      return;
    }
    const std::size_t space = item.find_first_of(" =");
    if (space != std::string_view::npos)
      add_index(m_out, trim(item.substr(space + 1)), m_file, number);
    if (item.starts_with("-r") || item.starts_with("--requirement"))
      m_out.gaps.push_back({m_file + ":" + std::to_string(number), "includes a requirement file from conda's pip list; not followed"});
  }

  // "channel::name=version=build", "name >=1.2", "name"
  void conda_item(std::string_view item, int number) {
    if (const std::size_t channel = item.find("::"); channel != std::string_view::npos)
      item = item.substr(channel + 2);
    const std::size_t end = item.find_first_of("=<>! [");
    SurveyRequirement out = place("conda", number);
    out.name = normalised_name(item.substr(0, end));
    out.source = "index";
    if (end != std::string_view::npos)
      out.specifier = clean_line(trim(item.substr(end)), 200);
    if (out.name.empty() || out.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
      m_out.gaps.push_back({m_file + ":" + std::to_string(number), "is not a requirement that can be read"});
    else if (out.name != "python" && out.name != "pip")
      add_parsed(m_out, std::move(out));
  }

  const std::string& m_file;
  RequirementFindings& m_out;
  std::string m_key;
  bool m_in_pip = false;
  std::size_t m_pip_indent = 0;
};
} // namespace

void read_conda(const std::string& text, const std::string& file, RequirementFindings& out) {
  CondaReader reader(file, out);
  int number = 0;
  for (const std::string& line : split(text, '\n'))
    reader.take(line, ++number);
}

} // namespace remotemac::survey
