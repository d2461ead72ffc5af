#pragma once
// Reading what the far end says: cleaning of its text, mapping of its errors. Pure. Internal to sync.
#include "common/result.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace remotemac::sync {

// Every text in it, names of members too, without control characters and at most 16 KiB long.
[[nodiscard]] nlohmann::json clean_json(const nlohmann::json& value);
// From the "error" member of an answer. Codes that only make sense on our side, or that we do not know, become remote-refused: a host
// must not make us report, say, a wrong host key. `where` names the host.
[[nodiscard]] Error error_from_far_end(const nlohmann::json& error, const std::string& where);
// Which side must be upgraded. 0 .. 0 = the daemon's range is not known.
[[nodiscard]] Error protocol_mismatch(int daemon_min, int daemon_max, const std::string& where);

} // namespace remotemac::sync
