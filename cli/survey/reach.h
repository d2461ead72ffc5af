#pragma once
// Which places of a project the entry command reaches, by following imports between its files. Pure; any thread.
#include "cli/survey/project_files.h"
#include "cli/survey/python_sources.h"
#include "common/survey.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace remotemac::survey {

// Project files that the command starts; resolved = false with a note when that cannot be told.
[[nodiscard]] SurveyEntry resolve_entry(const std::vector<std::string>& command, const ProjectFiles& files);

class ImportGraph {
public:
  // `installed`: top-level module names that requirements bring; a folder of that name without __init__.py does not hide them.
  ImportGraph(const Sources& sources, const ProjectFiles& files, const SurveyEntry& entry, std::set<std::string> installed);

  [[nodiscard]] Reach of_file(const std::string& file) const;
  // Of a place in a file: `how` as ImportRow::how ("plain" for what is no import), `top` the function or class around it.
  [[nodiscard]] Reach of_place(const SourceFile& file, const std::string& how, const std::string& top) const;
  // Project files that an import loads, empty when it is none of the project's own modules.
  [[nodiscard]] std::vector<std::string> own_files(const std::string& importer, const ImportRow& row) const;
  [[nodiscard]] const std::vector<SurveyGap>& gaps() const { return m_gaps; }

private:
  void follow(const Sources& sources);
  void note_blind_spots(const Sources& sources);
  void add_module(const std::string& base, const std::string& dotted, const std::vector<std::string>& names, std::vector<std::string>& out) const;

  const ProjectFiles& m_files;
  std::set<std::string> m_entry;
  std::set<std::string> m_installed;
  std::vector<std::string> m_search; // folders that "import x" looks in: "", "src/", the script's own
  std::set<std::string> m_mentions;
  std::map<std::string, Reach> m_reach;
  bool m_resolved = false;
  bool m_blind = false; // something reached imports what cannot be read here
  std::vector<SurveyGap> m_gaps;
};

} // namespace remotemac::survey
