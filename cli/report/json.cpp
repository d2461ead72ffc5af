// A report for programs.
#include "cli/report/parts.h"
#include "cli/report/report.h"
#include "common/text.h"

#include <nlohmann/json.hpp>

namespace remotemac::report {
namespace {
using nlohmann::json;

// No broken UTF-8 (dump would throw), no control or bidi characters; nothing is shortened.
json cleaned(const json& value) {
  if (value.is_string())
    return clean_text(value.get_ref<const std::string&>());
  if (value.is_array()) {
    json out = json::array();
    for (const json& each : value)
      out.push_back(cleaned(each));
    return out;
  }
  if (value.is_object()) {
    json out = json::object();
    for (const auto& [key, each] : value.items())
      out[clean_text(key)] = cleaned(each);
    return out;
  }
  return value;
}

json criterion_json(const verdict::Criterion& criterion, bool reached) {
  json lines = json::array();
  for (const verdict::Line& line : criterion.lines) {
    json out{{"text", line.text}, {"status", verdict::name_of(line.status)}, {"cause", line.cause}};
    if (reached)
      out["allows"] = verdict::name_of(line.allows);
    lines.push_back(std::move(out));
  }
  json out{{"id", criterion.id},
           {"title", criterion.title},
           {"status", verdict::name_of(criterion.status)},
           {"lines", std::move(lines)}};
  if (reached)
    out["allows"] = verdict::name_of(criterion.allows);
  return out;
}

// Without a verdict nothing names a class: a reader that looks only for the word must not find one.
json verdict_json(const verdict::Verdict& verdict) {
  const bool reached = verdict.reached == verdict::Reached::yes;
  json criteria = json::array();
  for (const verdict::Criterion& criterion : verdict.criteria)
    criteria.push_back(criterion_json(criterion, reached));
  json reasons = json::array();
  for (const verdict::Reason& reason : verdict.reasons) {
    json out{{"cause", reason.cause}, {"text", reason.text}, {"detail", reason.detail}, {"criteria", reason.criteria}};
    if (reached)
      out["allows"] = verdict::name_of(reason.allows);
    reasons.push_back(std::move(out));
  }
  json obstacles = json::array();
  for (const verdict::Obstacle& each : verdict.obstacles)
    obstacles.push_back(
        {{"what", each.what}, {"where", each.where}, {"effort", each.effort}, {"instead", each.instead}});
  return {{"reached", reached},
          {"class", reached ? json(verdict::name_of(verdict.classification)) : json(nullptr)},
          {"ground", reached ? json(verdict::name_of(verdict.ground)) : json("")},
          {"why_not", verdict.why_not},
          {"use_from_now_on", reached ? json(verdict::use_from_now_on(verdict)) : json(nullptr)},
          {"criteria", std::move(criteria)},
          {"reasons", std::move(reasons)},
          {"obstacles", std::move(obstacles)},
          {"next_steps", verdict.next_steps},
          {"not_shown", verdict.not_shown}};
}
} // namespace

json to_json(const Evidence& evidence, const verdict::Verdict& verdict) {
  const json report{{"format", "remotemac-report"},
                    {"version", 1},
                    {"run", evidence.run.id},
                    {"project", evidence.project.name},
                    {"simulated", is_simulated(evidence)},
                    {"verdict", verdict_json(verdict)},
                    {"evidence", remotemac::to_json(evidence)}};
  return cleaned(report);
}

} // namespace remotemac::report
