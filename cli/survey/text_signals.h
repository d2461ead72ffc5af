#pragma once
// Signals outside of Python: CUDA sources, containers, shell and batch scripts. Blocking; any thread.
#include "cli/survey/project_files.h"
#include "common/survey.h"

#include <vector>

namespace remotemac::survey {

[[nodiscard]] std::vector<SurveySignal> text_signals(const ProjectFiles& files, std::vector<SurveyGap>& gaps);

} // namespace remotemac::survey
