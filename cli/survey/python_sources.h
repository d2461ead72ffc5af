#pragma once
// Python sources, read by this machine's python3 with the embedded parse_sources.py: imports, signals, names used. No code of the
// project runs. Blocking; a parser that dies over one file is started again behind it. Any thread.
#include "common/process_runner.h"
#include "common/survey.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace remotemac::survey {

struct ImportRow {
  std::string module; // dotted, without leading dots; "" for "from . import x"
  std::vector<std::string> names;
  int level = 0; // number of leading dots
  int line = 0;
  std::string how;
  std::string top; // the undecorated top-level function or class around it, "" when there is none
  bool standard = false;
};

struct SignalRow {
  std::string id;
  int line = 0;
  std::string construct;
  bool guarded = false;
  std::string top;
};

struct RequiresRow { // of a literal setup(...)
  std::string text;
  std::string group;
  std::string computed; // the argument that is not literal
  int line = 0;
};

struct SourceFile {
  std::string path;
  std::string error; // "" when it was parsed
  std::uint64_t bytes = 0;
  std::vector<ImportRow> imports;
  std::vector<SignalRow> signals;
  std::vector<RequiresRow> requires_rows;
  std::vector<std::pair<int, std::string>> dynamic; // line and call whose target is computed
  std::set<std::string> mentions;
};

struct Sources {
  std::string python_version; // "" when no interpreter could be run; a gap says why
  std::vector<SourceFile> files;
  std::vector<SurveyGap> gaps;
};

[[nodiscard]] Sources parse_sources(const std::filesystem::path& root, const std::vector<std::string>& files, ProcessRunner& runner);

} // namespace remotemac::survey
