// The survey's JSON (docs/evidence.md, "Survey").
#include "common/survey.h"

#include "common/evidence.h"
#include "common/evidence_json.h"

namespace remotemac {
namespace {
using namespace evidence_json;

constexpr std::array k_classes{
    Named<PackageClass>{PackageClass::blocks, "blocks"}, Named<PackageClass>{PackageClass::conditional, "conditional"},
    Named<PackageClass>{PackageClass::replaceable, "replaceable"}, Named<PackageClass>{PackageClass::portable, "portable"}};
constexpr std::array k_efforts{Named<Effort>{Effort::none, "none"}, Named<Effort>{Effort::minutes, "minutes"},
                               Named<Effort>{Effort::hours, "hours"}, Named<Effort>{Effort::days, "days"},
                               Named<Effort>{Effort::rewrite, "rewrite"}};
constexpr std::array k_reaches{Named<Reach>{Reach::reached, "reached"}, Named<Reach>{Reach::maybe, "maybe"},
                               Named<Reach>{Reach::not_reached, "not-reached"}, Named<Reach>{Reach::unknown, "unknown"}};
constexpr std::array k_severities{Named<Severity>{Severity::note, "note"}, Named<Severity>{Severity::risk, "risk"},
                                  Named<Severity>{Severity::fix, "fix"}, Named<Severity>{Severity::blocks, "blocks"}};
constexpr std::array k_needs{Named<Need>{Need::needed, "needed"}, Named<Need>{Need::optional, "optional"},
                             Named<Need>{Need::unused, "unused"}, Named<Need>{Need::unknown, "unknown"}};

SurveyPlace place_of(const json& p) {
  return {path(p, "file"), line_number(p, "line"), text(p, "how", 80), value_in(k_reaches, p, "reach", Reach::unknown)};
}
json place_json(const SurveyPlace& p) {
  return {{"file", p.file}, {"line", p.line}, {"how", p.how}, {"reach", name_of(p.reach)}};
}

SurveyRequirement requirement_of(const json& r) {
  SurveyRequirement out;
  out.name = name(r, "name");
  out.specifier = name(r, "specifier");
  out.marker = text(r, "marker");
  out.extras = texts(r, "extras");
  out.source = text(r, "source", 40);
  out.origin = text(r, "origin");
  out.group = name(r, "group");
  out.reader = text(r, "reader", 40);
  out.file = path(r, "file");
  out.line = line_number(r, "line");
  out.skipped_on_mac = json_flag(r, "skipped_on_mac");
  return out;
}
json requirement_json(const SurveyRequirement& r) {
  return {{"name", r.name},
          {"specifier", r.specifier},
          {"marker", r.marker},
          {"extras", r.extras},
          {"source", r.source},
          {"origin", r.origin},
          {"group", r.group},
          {"reader", r.reader},
          {"file", r.file},
          {"line", r.line},
          {"skipped_on_mac", r.skipped_on_mac}};
}

SurveyPackage package_of(const json& p) {
  SurveyPackage out;
  out.name = name(p, "name");
  out.modules = texts(p, "modules");
  // What cannot be read is taken for the worst, never for portable.
  out.package_class = value_in(k_classes, p, "class", PackageClass::blocks);
  out.why = text(p, "why");
  out.alternative = text(p, "alternative");
  out.effort = value_in(k_efforts, p, "effort", Effort::none);
  out.source = name(p, "source");
  out.need = value_in(k_needs, p, "need", Need::unknown);
  out.declared = list<SurveyPlace>(p, "declared", place_of);
  out.imported = list<SurveyPlace>(p, "imported", place_of);
  return out;
}
json package_json(const SurveyPackage& p) {
  return {{"name", p.name},
          {"modules", p.modules},
          {"class", name_of(p.package_class)},
          {"why", p.why},
          {"alternative", p.alternative},
          {"effort", name_of(p.effort)},
          {"source", p.source},
          {"need", name_of(p.need)},
          {"declared", array_of(p.declared, place_json)},
          {"imported", array_of(p.imported, place_json)}};
}

SurveySignal signal_of(const json& s) {
  SurveySignal out;
  out.id = name(s, "id");
  out.severity = value_in(k_severities, s, "severity", Severity::blocks);
  out.file = path(s, "file");
  out.line = line_number(s, "line");
  out.construct = name(s, "construct");
  out.reach = value_in(k_reaches, s, "reach", Reach::unknown);
  out.guarded = json_flag(s, "guarded");
  out.effect = text(s, "effect");
  out.instead = text(s, "instead");
  return out;
}
json signal_json(const SurveySignal& s) {
  return {{"id", s.id},
          {"severity", name_of(s.severity)},
          {"file", s.file},
          {"line", s.line},
          {"construct", s.construct},
          {"reach", name_of(s.reach)},
          {"guarded", s.guarded},
          {"effect", s.effect},
          {"instead", s.instead}};
}

SurveyModule module_of(const json& m) {
  return {name(m, "name"),        value_in(k_reaches, m, "reach", Reach::unknown),
          text(m, "how", 80),     path(m, "file"),
          line_number(m, "line"), count(m, "places")};
}
json module_json(const SurveyModule& m) {
  return {{"name", m.name}, {"reach", name_of(m.reach)}, {"how", m.how}, {"file", m.file},
          {"line", m.line}, {"places", m.places}};
}

} // namespace

std::string_view name_of(PackageClass value) {
  return name_in(k_classes, value);
}
std::string_view name_of(Effort value) {
  return name_in(k_efforts, value);
}
std::string_view name_of(Reach value) {
  return name_in(k_reaches, value);
}
std::string_view name_of(Severity value) {
  return name_in(k_severities, value);
}
std::string_view name_of(Need value) {
  return name_in(k_needs, value);
}

Result<Survey> survey_from_json(const json& v) {
  if (!v.is_object() || json_text(v, "format") != "remotemac-survey")
    return Error(ErrorCode::corrupt, "the survey is missing or not one (its format is not remotemac-survey)",
                 "run the survey again: remotemac run");
  if (json_int(v, "version") != 1)
    return Error(ErrorCode::corrupt, "the survey has a version that this program does not know");
  Survey out;
  const json& entry = json_at(v, "entry");
  out.entry = {texts(entry, "command", k_max_text), paths(entry, "files"), json_flag(entry, "resolved"), text(entry, "note")};
  const json& counts = json_at(v, "counts");
  out.counts = {count(counts, "files"), count(counts, "python_files"), count(counts, "parsed"), count(counts, "reached"),
                count(counts, "bytes")};
  out.python_version = text(v, "python_version", 40);
  out.requirements = list<SurveyRequirement>(v, "requirements", requirement_of);
  out.packages = list<SurveyPackage>(v, "packages", package_of);
  out.signals = list<SurveySignal>(v, "signals", signal_of);
  out.modules = list<SurveyModule>(v, "modules", module_of);
  out.not_surveyed =
      list<SurveyGap>(v, "not_surveyed", [](const json& g) { return SurveyGap{text(g, "what"), text(g, "reason")}; });
  out.effort = value_in(k_efforts, v, "effort", Effort::none);
  return out;
}

json to_json(const Survey& s) {
  return {
      {"format", "remotemac-survey"},
      {"version", 1},
      {"entry", {{"command", s.entry.command}, {"files", s.entry.files}, {"resolved", s.entry.resolved}, {"note", s.entry.note}}},
      {"counts",
       {{"files", s.counts.files},
        {"python_files", s.counts.python_files},
        {"parsed", s.counts.parsed},
        {"reached", s.counts.reached},
        {"bytes", s.counts.bytes}}},
      {"python_version", s.python_version},
      {"requirements", array_of(s.requirements, requirement_json)},
      {"packages", array_of(s.packages, package_json)},
      {"signals", array_of(s.signals, signal_json)},
      {"modules", array_of(s.modules, module_json)},
      {"not_surveyed", array_of(s.not_surveyed, [](const SurveyGap& g) { return json{{"what", g.what}, {"reason", g.reason}}; })},
      {"effort", name_of(s.effort)}};
}

} // namespace remotemac
