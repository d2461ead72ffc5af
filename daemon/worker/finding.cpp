#include "daemon/worker/finding.h"

#include "common/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace remotemac::worker {
namespace {

using nlohmann::json;

enum class Wrong { no, yes };
struct Row {
  Status status;
  std::string_view name;
  Wrong wrong;
};
constexpr Row k_rows[] = {
#define RM_X(id, name, wrong) {Status::id, name, Wrong::wrong},
    RM_WORKER_STATUSES(RM_X)
#undef RM_X
};

// Evidence holds finite numbers only; null stands for what is not one.
json finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

std::optional<ErrorStats> error_from_json(const json& value) {
  if (!value.is_object())
    return std::nullopt;
  ErrorStats stats;
  stats.max_abs = json_number(value, "max_abs", INFINITY);
  stats.max_rel = json_number(value, "max_rel", INFINITY);
  if (json_at(value, "reference_max_rel").is_number())
    stats.reference_max_rel = json_number(value, "reference_max_rel");
  const std::string band = json_text(value, "band");
  stats.band = band == "equal" ? Band::equal : band == "relaxed" ? Band::relaxed : Band::outside;
  stats.mismatches = static_cast<std::uint64_t>(json_int(value, "mismatches"));
  stats.elements = static_cast<std::uint64_t>(json_int(value, "elements"));
  return stats;
}

} // namespace

std::string_view status_name(Status status) { return k_rows[static_cast<std::size_t>(status)].name; }

std::optional<Status> status_from_name(std::string_view name) {
  const auto* row = std::ranges::find(k_rows, name, &Row::name);
  return row == std::end(k_rows) ? std::nullopt : std::optional(row->status);
}

bool stands_for_trouble(Status status) { return k_rows[static_cast<std::size_t>(status)].wrong == Wrong::yes; }

json error_json(const std::optional<ErrorStats>& error) {
  if (!error)
    return nullptr;
  return {{"max_abs", finite(error->max_abs)},
          {"max_rel", finite(error->max_rel)},
          {"reference_max_rel", error->reference_max_rel ? finite(*error->reference_max_rel) : json(nullptr)},
          {"band", band_name(error->band)},
          {"mismatches", error->mismatches},
          {"elements", error->elements}};
}

json to_json(const Finding& finding) {
  return {{"id", finding.id},
          {"operator", finding.operation},
          {"case", finding.name},
          {"status", status_name(finding.status)},
          {"detail", finding.detail},
          {"reproduce", finding.reproduce},
          {"error", error_json(finding.error)},
          {"seconds_per_call", finding.seconds_per_call ? finite(*finding.seconds_per_call) : json(nullptr)},
          {"missing_operator", finding.missing_operator}};
}

Result<Finding> finding_from_json(const json& value) {
  Finding finding;
  const auto status = status_from_name(json_text(value, "status"));
  if (!status)
    return Error(ErrorCode::corrupt, "a finding has no known status");
  finding.id = json_text(value, "id");
  finding.operation = json_text(value, "operator");
  finding.name = json_text(value, "case");
  finding.status = *status;
  finding.detail = json_text(value, "detail");
  finding.reproduce = json_text(value, "reproduce");
  finding.error = error_from_json(json_at(value, "error"));
  if (json_at(value, "seconds_per_call").is_number())
    finding.seconds_per_call = json_number(value, "seconds_per_call");
  finding.missing_operator = json_flag(value, "missing_operator");
  return finding;
}

} // namespace remotemac::worker
