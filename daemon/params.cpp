#include "daemon/params.h"

#include "common/job.h"
#include "common/json.h"
#include "common/text.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
Error bad(std::string_view name, const std::string& why) { return Error(ErrorCode::usage, "the parameter '" + std::string(name) + "' " + why); }
} // namespace

Result<std::string> text_param(const nlohmann::json& params, std::string_view name, std::size_t max_bytes) {
  const nlohmann::json& value = json_at(params, name);
  if (!value.is_string())
    return bad(name, "must be text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > max_bytes)
    return bad(name, "is longer than " + std::to_string(max_bytes) + " bytes");
  return text;
}

Result<std::uint64_t> number_param(const nlohmann::json& params, std::string_view name, std::uint64_t least, std::uint64_t most) {
  const std::int64_t value = json_int(params, name, -1);
  if (value < 0 || static_cast<std::uint64_t>(value) < least || static_cast<std::uint64_t>(value) > most)
    return bad(name, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<std::uint64_t>(value);
}

Result<Digest> digest_param(const nlohmann::json& params, std::string_view name) {
  RM_ASSIGN(const std::string text, text_param(params, name, 64));
  const Result<Digest> digest = Digest::from_hex(text);
  if (!digest)
    return bad(name, "must be 64 lower-case hex digits");
  return *digest;
}

Result<std::vector<std::string>> texts_param(const nlohmann::json& params, std::string_view name, std::size_t max_count, std::size_t max_bytes) {
  const nlohmann::json& list = json_at(params, name);
  if (!list.is_array() || list.size() > max_count)
    return bad(name, "must be a list of at most " + std::to_string(max_count) + " texts");
  std::vector<std::string> out;
  for (const nlohmann::json& each : list) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > max_bytes)
      return bad(name, "must hold texts of at most " + std::to_string(max_bytes) + " bytes");
    out.push_back(each.get<std::string>());
  }
  return out;
}

Result<std::string> job_param(const nlohmann::json& params) {
  RM_ASSIGN(std::string id, text_param(params, "job", 64));
  if (!is_job_id(id))
    return Error(ErrorCode::no_job, "'" + clean_line(id, 40) + "' is not the id of a job", "list them with: remotemac jobs");
  return id;
}

} // namespace remotemac::daemon
