#include "policies/gate.h"

#include <nlohmann/json.hpp>

namespace remotemac::policies {

nlohmann::json to_json(const Judgement& judgement) {
  using nlohmann::json;
  json files = json::array();
  for (const FileDecision& decision : judgement.decisions) {
    json findings = json::array();
    for (const Finding& finding : decision.findings)
      findings.push_back({{"detector", finding.detector}, {"confidence", name_of(finding.confidence)}, {"count", finding.count}, {"place", finding.place}});
    files.push_back({{"path", decision.path}, {"size_bytes", decision.size_bytes}, {"verdict", name_of(decision.verdict)}, {"data_set", decision.data_set}, {"class", decision.data_class}, {"kind", decision.kind}, {"rule", decision.rule},
                     {"layer", decision.layer}, {"place", decision.place}, {"reason", decision.reason}, {"findings", findings}});
  }
  const Totals& totals = judgement.totals;
  return {{"format", "remotemac-plan"}, {"version", 1}, {"decision", totals.refused > 0 || totals.approved == 0 ? "refused" : "allowed"}, {"files", files}, {"policy_digest", judgement.policy_digest},
          {"totals", {{"approved", totals.approved}, {"approved_bytes", totals.approved_bytes}, {"refused", totals.refused}, {"excluded", totals.excluded}, {"not_proposed", totals.not_proposed}}}};
}

} // namespace remotemac::policies
