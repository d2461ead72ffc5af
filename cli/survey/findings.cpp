#include "cli/survey/findings.h"

#include "cli/survey/packages.h"
#include "cli/survey/signals.h"
#include "common/text.h"

#include <algorithm>
#include <array>
#include <map>

namespace remotemac::survey {
namespace {
constexpr std::size_t k_max_places = 50; // kept per package

int rank(Reach reach) { return reach == Reach::reached ? 3 : reach == Reach::maybe ? 2 : reach == Reach::unknown ? 1 : 0; }

int rank(const std::string& how) {
  constexpr std::array<std::string_view, 8> k_order = {"type-checking", "cuda-guarded", "platform-guarded", "conditional", "try", "lazy", "main", "plain"};
  return static_cast<int>(std::ranges::find(k_order, how) - k_order.begin());
}

// "from numba import cuda" may mean the module numba.cuda: both are looked up, the longer match wins.
const KnownPackage* package_of(const ImportRow& row) {
  const KnownPackage* best = known_by_module(row.module);
  for (const std::string& name : row.names) {
    const KnownPackage* found = known_by_module(row.module + "." + name);
    if (found != nullptr && found != best)
      return found;
  }
  return best;
}

bool foreign(const ImportGraph& graph, const SourceFile& file, const ImportRow& row) {
  return row.level == 0 && !row.standard && !row.module.empty() && graph.own_files(file.path, row).empty();
}

SurveyPackage& entry_for(std::map<std::string, SurveyPackage>& out, const KnownPackage& known) {
  SurveyPackage& package = out[shown_name(known)];
  if (!package.name.empty())
    return package;
  package.name = shown_name(known);
  for (const std::string& module : split(known.modules, ' '))
    if (!module.empty())
      package.modules.push_back(module);
  package.package_class = known.package_class;
  package.why = known.why;
  package.alternative = known.alternative;
  package.effort = known.effort;
  package.source = known.source;
  return package;
}

void add_place(std::vector<SurveyPlace>& places, SurveyPlace place) {
  if (places.size() < k_max_places)
    places.push_back(std::move(place));
}

// A module that many distributions share (onnxruntime, faiss): the entry without modules of its own is needed when it is declared
// for the Mac, since the installation would fail.
Need need_of(const SurveyPackage& package, bool sources_read, bool installs_on_mac) {
  Need need = Need::unused;
  for (const SurveyPlace& place : package.imported) {
    if (place.reach == Reach::unknown)
      return Need::unknown;
    const bool sure = place.reach == Reach::reached && place.how != "try";
    if (sure)
      return Need::needed;
    if (place.reach == Reach::reached || place.reach == Reach::maybe)
      need = Need::optional;
  }
  if (package.modules.empty() && package.imported.empty())
    return installs_on_mac ? Need::needed : Need::unused;
  return sources_read ? need : Need::unknown;
}
} // namespace

std::set<std::string> installed_modules(const std::vector<SurveyRequirement>& requirements) {
  std::set<std::string> out;
  for (const SurveyRequirement& requirement : requirements) {
    std::string plain = requirement.name;
    std::ranges::replace(plain, '-', '_');
    out.insert(plain);
    if (const KnownPackage* known = known_by_name(requirement))
      for (const std::string& module : split(known->modules, ' '))
        out.insert(split(module, '.').front());
  }
  return out;
}

std::vector<SurveySignal> source_signals(const Sources& sources, const ImportGraph& graph) {
  std::vector<SurveySignal> out;
  for (const SourceFile& file : sources.files)
    for (const SignalRow& row : file.signals)
      if (const KnownSignal* known = known_signal(row.id))
        out.push_back(make_signal(*known, file.path, row.line, row.construct, graph.of_place(file, "plain", row.top), row.guarded));
  return out;
}

std::vector<SurveyModule> third_party_modules(const Sources& sources, const ImportGraph& graph) {
  std::map<std::string, SurveyModule> out;
  for (const SourceFile& file : sources.files)
    for (const ImportRow& row : file.imports) {
      if (!foreign(graph, file, row))
        continue;
      const std::string name = split(row.module, '.').front();
      const Reach reach = graph.of_place(file, row.how, row.top);
      SurveyModule& module = out[name];
      const bool stronger = module.places == 0 || rank(reach) > rank(module.reach) ||
                            (rank(reach) == rank(module.reach) && rank(row.how) > rank(module.how));
      ++module.places;
      if (!stronger)
        continue;
      module.name = name;
      module.reach = reach;
      module.how = row.how == "main" ? "plain" : row.how;
      module.file = file.path;
      module.line = row.line;
    }
  std::vector<SurveyModule> list;
  for (auto& [name, module] : out)
    list.push_back(std::move(module));
  return list;
}

std::vector<SurveyPackage> known_among(const std::vector<SurveyRequirement>& requirements, const Sources& sources, const ImportGraph& graph,
                                       const std::vector<SurveySignal>& signals) {
  std::map<std::string, SurveyPackage> found;
  std::set<std::string> installs_on_mac;
  for (const SurveyRequirement& requirement : requirements)
    if (const KnownPackage* known = known_by_name(requirement)) {
      SurveyPackage& package = entry_for(found, *known);
      const bool always = requirement.group.empty() && !requirement.skipped_on_mac;
      if (always)
        installs_on_mac.insert(package.name);
      const Reach reach = requirement.skipped_on_mac ? Reach::not_reached : always ? Reach::reached : Reach::maybe;
      add_place(package.declared, {requirement.file, requirement.line, requirement.reader, reach});
    }
  for (const SourceFile& file : sources.files)
    for (const ImportRow& row : file.imports)
      if (const KnownPackage* known = foreign(graph, file, row) ? package_of(row) : nullptr)
        add_place(entry_for(found, *known).imported, {file.path, row.line, row.how == "main" ? "plain" : row.how, graph.of_place(file, row.how, row.top)});
  for (const SurveySignal& signal : signals)
    if (const KnownSignal* known = known_signal(signal.id); known != nullptr && !known->package.empty() && !signal.guarded) {
      SurveyRequirement wanted;
      wanted.name = known->package;
      if (const KnownPackage* package = known_by_name(wanted))
        add_place(entry_for(found, *package).imported, {signal.file, signal.line, "plain", signal.reach});
    }
  std::vector<SurveyPackage> list;
  for (auto& [name, package] : found) {
    package.need = need_of(package, !sources.python_version.empty(), installs_on_mac.contains(name));
    list.push_back(std::move(package));
  }
  return list;
}

Effort total_effort(const std::vector<SurveyPackage>& packages, const std::vector<SurveySignal>& signals) {
  Effort effort = Effort::none;
  for (const SurveyPackage& package : packages)
    if (package.need == Need::needed && package.package_class != PackageClass::portable)
      effort = std::max(effort, package.effort);
  for (const SurveySignal& signal : signals) {
    if (signal.guarded || (signal.reach != Reach::reached && signal.reach != Reach::unknown))
      continue;
    if (signal.severity == Severity::fix)
      effort = std::max(effort, Effort::minutes);
    else if (signal.severity == Severity::blocks)
      effort = std::max(effort, Effort::days);
  }
  return effort;
}

} // namespace remotemac::survey
