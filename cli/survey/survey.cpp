#include "cli/survey/survey.h"

#include "cli/survey/findings.h"
#include "cli/survey/project_files.h"
#include "cli/survey/python_sources.h"
#include "cli/survey/reach.h"
#include "cli/survey/requirement_files.h"
#include "cli/survey/text_signals.h"
#include "common/text.h"

#include <algorithm>
#include <tuple>

namespace remotemac::survey {
namespace {
constexpr std::size_t k_max_gaps = 300;

void add_setup_py(const Sources& sources, RequirementFindings& out) {
  for (const SourceFile& file : sources.files)
    for (const RequiresRow& row : base_of(file.path) == "setup.py" ? file.requires_rows : std::vector<RequiresRow>{}) {
      if (!row.computed.empty()) {
        out.gaps.push_back({file.path + ":" + std::to_string(row.line), clean_line(row.computed, 100) + " is computed; only literal lists are read"});
        continue;
      }
      SurveyRequirement place;
      place.group = row.group;
      place.reader = "setup.py";
      place.file = file.path;
      place.line = row.line;
      add_requirement(out, row.text, std::move(place));
    }
}

void note_unread_kinds(const ProjectFiles& files, std::vector<SurveyGap>& gaps) {
  for (const auto& [suffix, what] : {std::pair{".ipynb", "notebooks"}, std::pair{".pyx", "Cython sources"}})
    if (const std::vector<std::string> found = files.with_suffix(suffix); !found.empty())
      gaps.push_back({found.front(), std::string(what) + " are not parsed (" + std::to_string(found.size()) + " in the project)"});
}

SurveyCounts count(const ProjectFiles& files, std::size_t python_files, const Sources& sources, const ImportGraph& graph) {
  SurveyCounts out;
  out.files = files.all().size();
  out.python_files = python_files;
  for (const SourceFile& file : sources.files) {
    out.bytes += file.bytes;
    if (file.error.empty())
      ++out.parsed;
    if (graph.of_file(file.path) == Reach::reached)
      ++out.reached;
  }
  return out;
}

void append(std::vector<SurveyGap>& to, const std::vector<SurveyGap>& from) { to.insert(to.end(), from.begin(), from.end()); }

// One gap per place and reason, and a bound on how many are told apart.
void tidy(std::vector<SurveyGap>& gaps) {
  std::vector<SurveyGap> out;
  for (SurveyGap& gap : gaps)
    if (std::ranges::none_of(out, [&](const SurveyGap& other) { return other.what == gap.what && other.reason == gap.reason; })) {
      if (out.size() == k_max_gaps)
        break;
      out.push_back(std::move(gap));
    }
  if (out.size() == k_max_gaps)
    out.push_back({".", "more was not read; only the first " + std::to_string(k_max_gaps) + " are listed"});
  gaps = std::move(out);
}

std::string number_of(std::size_t count, const char* one, const char* many) { return std::to_string(count) + " " + (count == 1 ? one : many); }
} // namespace

Result<Survey> survey(const std::filesystem::path& root, const std::vector<std::string>& command, ProcessRunner& runner) {
  std::error_code failed;
  if (!std::filesystem::is_directory(root, failed))
    return Error(ErrorCode::project, root.string() + " is no folder", "give the folder that holds remotemac.toml");
  Survey out;
  const ProjectFiles files = ProjectFiles::list(root, out.not_surveyed);
  RequirementFindings requirements = read_requirement_files(files);
  const std::vector<std::string> python_files = files.with_suffix(".py");
  const Sources sources = parse_sources(root, python_files, runner);
  add_setup_py(sources, requirements);

  out.entry = resolve_entry(command, files);
  if (!out.entry.resolved)
    out.not_surveyed.push_back({"entry command", out.entry.note + "; what it reaches is unknown"});
  const ImportGraph graph(sources, files, out.entry, installed_modules(requirements.requirements));
  out.counts = count(files, python_files.size(), sources, graph);
  out.python_version = sources.python_version;
  out.signals = source_signals(sources, graph);
  for (const SurveySignal& signal : requirements.signals)
    out.signals.push_back(signal);
  for (SurveySignal& signal : text_signals(files, out.not_surveyed))
    out.signals.push_back(std::move(signal));
  std::ranges::stable_sort(out.signals, {}, [](const SurveySignal& signal) { return std::tie(signal.file, signal.line); });
  out.packages = known_among(requirements.requirements, sources, graph, out.signals);
  out.modules = third_party_modules(sources, graph);
  out.requirements = std::move(requirements.requirements);
  out.effort = total_effort(out.packages, out.signals);
  note_unread_kinds(files, out.not_surveyed);
  append(out.not_surveyed, requirements.gaps);
  append(out.not_surveyed, sources.gaps);
  append(out.not_surveyed, graph.gaps());
  tidy(out.not_surveyed);
  return out;
}

std::string one_line(const Survey& survey) {
  std::string out = std::to_string(survey.counts.parsed) + " of " + number_of(survey.counts.python_files, "Python file", "Python files") + " read";
  std::vector<std::string> needed;
  for (const SurveyPackage& package : survey.packages)
    if (package.need == Need::needed && package.package_class != PackageClass::portable)
      needed.push_back(package.name);
  out += ", " + number_of(needed.size(), "needed package", "needed packages") + " made for CUDA";
  if (!needed.empty())
    out += " (" + join(std::vector<std::string>(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(needed.size(), 3))), ", ") +
           (needed.size() > 3 ? ", ...)" : ")");
  const SurveySignal* first = nullptr;
  std::size_t places = 0;
  for (const SurveySignal& signal : survey.signals)
    if (!signal.guarded && signal.reach != Reach::not_reached && (signal.severity == Severity::fix || signal.severity == Severity::blocks)) {
      first = first == nullptr ? &signal : first;
      ++places;
    }
  out += ", " + number_of(places, "place", "places") + " to change";
  if (first != nullptr)
    out += " (" + std::string(places > 1 ? "first " : "") + first->id + " at " + first->file + ":" + std::to_string(first->line) + ")";
  out += ", effort " + std::string(name_of(survey.effort));
  if (!survey.not_surveyed.empty())
    out += ", " + number_of(survey.not_surveyed.size(), "thing", "things") + " not surveyed";
  return out;
}

} // namespace remotemac::survey
