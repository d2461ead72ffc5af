#pragma once
// Readers of the files that say what a project needs. None fails: what cannot be read becomes a gap. Blocking; any thread.
#include "cli/survey/project_files.h"
#include "common/survey.h"

#include <string>
#include <vector>

namespace remotemac::survey {

struct RequirementFindings {
  std::vector<SurveyRequirement> requirements;
  std::vector<SurveySignal> signals; // package indexes and versions for CUDA only
  std::vector<SurveyGap> gaps;
};

// All of them: requirement files with what they include, pyproject.toml, environment.yml, setup.cfg. (setup.py: python_sources.h)
[[nodiscard]] RequirementFindings read_requirement_files(const ProjectFiles& files);

// The single readers, text already in hand.
void read_pip_files(const ProjectFiles& files, RequirementFindings& out);
void read_pyproject(const std::string& text, const std::string& file, RequirementFindings& out);
void read_conda(const std::string& text, const std::string& file, RequirementFindings& out);
void read_setup_cfg(const std::string& text, const std::string& file, RequirementFindings& out);

// Adds one requirement with its place; a text that is no requirement becomes a gap. Notices versions with +cu.
void add_requirement(RequirementFindings& out, std::string_view text, SurveyRequirement place);
void add_parsed(RequirementFindings& out, SurveyRequirement requirement);
void add_index(RequirementFindings& out, std::string_view url, const std::string& file, int line);
// "cu121", "cuda" or "" : the CUDA version that a package index or channel is for
[[nodiscard]] bool is_cuda_index(std::string_view url);

} // namespace remotemac::survey
