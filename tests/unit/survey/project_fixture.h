#pragma once
// A project folder made by a test, and short questions about its survey.
#include "cli/survey/survey.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::survey {

struct Project {
  test::TempDir folder;
  PosixProcessRunner runner;

  Project& file(std::string_view name, std::string_view content) {
    test::write_file(folder / name, content);
    return *this;
  }
  Survey survey(const std::vector<std::string>& command = {"main.py"}) {
    Result<Survey> result = survey::survey(folder.path(), command, runner);
    if (!result) {
      ADD_FAILURE() << result.error().chain();
      return {};
    }
    return *result;
  }
};

inline const SurveySignal* signal_at(const Survey& survey, std::string_view id, std::string_view file, int line) {
  for (const SurveySignal& signal : survey.signals)
    if (signal.id == id && signal.file == file && signal.line == line)
      return &signal;
  return nullptr;
}

inline std::vector<std::string> ids(const Survey& survey) {
  std::vector<std::string> out;
  for (const SurveySignal& signal : survey.signals)
    out.push_back(signal.id);
  return out;
}

inline const SurveyPackage* package_named(const Survey& survey, std::string_view name) {
  const auto found = std::ranges::find(survey.packages, name, &SurveyPackage::name);
  return found == survey.packages.end() ? nullptr : &*found;
}

inline const SurveyModule* module_named(const Survey& survey, std::string_view name) {
  const auto found = std::ranges::find(survey.modules, name, &SurveyModule::name);
  return found == survey.modules.end() ? nullptr : &*found;
}

// The reason of the first gap whose place contains `what`, "" when there is none.
inline std::string gap_about(const std::vector<SurveyGap>& gaps, std::string_view what) {
  for (const SurveyGap& gap : gaps)
    if (gap.what.find(what) != std::string::npos)
      return gap.reason;
  return {};
}

} // namespace remotemac::survey
