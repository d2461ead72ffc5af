#include "sync/far_end.h"

#include "common/json.h"
#include "common/text.h"
#include "common/version.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_text_max = 16384;
constexpr ErrorCode k_daemon_codes[] = {ErrorCode::internal,    ErrorCode::deadline, ErrorCode::io,      ErrorCode::disk_full,         ErrorCode::process,
                                        ErrorCode::protocol,    ErrorCode::setup,    ErrorCode::corrupt, ErrorCode::protocol_mismatch, ErrorCode::environment,
                                        ErrorCode::remote_refused, ErrorCode::no_job};

std::string range(int low, int high) { return low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high); }
} // namespace

nlohmann::json clean_json(const nlohmann::json& value) {
  if (value.is_string())
    return clean_line(value.get_ref<const std::string&>(), k_text_max);
  if (value.is_array()) {
    nlohmann::json out = nlohmann::json::array();
    for (const nlohmann::json& each : value)
      out.push_back(clean_json(each));
    return out;
  }
  if (value.is_object()) {
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [name, each] : value.items())
      out[clean_line(name, k_text_max)] = clean_json(each);
    return out;
  }
  return value;
}

Error protocol_mismatch(int daemon_min, int daemon_max, const std::string& where) {
  std::string message = "the daemon on " + where + " and this program have no protocol version in common";
  if (daemon_max == 0)
    return Error(ErrorCode::protocol_mismatch, message + " (ours: " + range(k_protocol_min, k_protocol_max) + ")", "bring both to the same release");
  message += " (daemon: " + range(daemon_min, daemon_max) + ", ours: " + range(k_protocol_min, k_protocol_max) + ")";
  if (daemon_max < k_protocol_min)
    return Error(ErrorCode::protocol_mismatch, message, "the daemon is older and must be upgraded: run remotemac host add NAME DEST --replace for this host");
  return Error(ErrorCode::protocol_mismatch, message, "this program is older and must be upgraded: install the newer remotemac here");
}

Error error_from_far_end(const nlohmann::json& error, const std::string& where) {
  const nlohmann::json& data = json_at(error, "data");
  const std::string name = json_text(data, "code");
  ErrorCode code = code_from_name(name);
  if (code_name(code) != name || std::find(std::begin(k_daemon_codes), std::end(k_daemon_codes), code) == std::end(k_daemon_codes))
    code = ErrorCode::remote_refused;
  std::string message = clean_line(json_text(error, "message"), 1000);
  if (message.empty())
    message = "it gave no reason";
  return Error(code, std::move(message), clean_line(json_text(data, "hint"), 1000)).while_trying("the daemon on " + where + " says");
}

} // namespace remotemac::sync
