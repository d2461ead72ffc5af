#pragma once
// From rows of sources and requirements to what the survey says about packages, modules and signals. Pure; any thread.
#include "cli/survey/python_sources.h"
#include "cli/survey/reach.h"
#include "common/survey.h"

#include <vector>

namespace remotemac::survey {

// Modules that the known packages among the requirements bring, for ImportGraph.
[[nodiscard]] std::set<std::string> installed_modules(const std::vector<SurveyRequirement>& requirements);
[[nodiscard]] std::vector<SurveySignal> source_signals(const Sources& sources, const ImportGraph& graph);
[[nodiscard]] std::vector<SurveyModule> third_party_modules(const Sources& sources, const ImportGraph& graph);
// Entries of the knowledge table that are declared or imported. `signals` may need a package that nothing imports by name.
[[nodiscard]] std::vector<SurveyPackage> known_among(const std::vector<SurveyRequirement>& requirements, const Sources& sources,
                                                     const ImportGraph& graph, const std::vector<SurveySignal>& signals);
// The largest effort among needed packages that are not portable, and reached places that fail on a Mac.
[[nodiscard]] Effort total_effort(const std::vector<SurveyPackage>& packages, const std::vector<SurveySignal>& signals);

} // namespace remotemac::survey
