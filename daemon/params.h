#pragma once
// Typed reading of the parameters of a request: present, of the right type and within bounds, or error usage that names the
// parameter. Pure.
#include "common/digest.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::daemon {

[[nodiscard]] Result<std::string> text_param(const nlohmann::json& params, std::string_view name, std::size_t max_bytes);
[[nodiscard]] Result<std::uint64_t> number_param(const nlohmann::json& params, std::string_view name, std::uint64_t least, std::uint64_t most);
[[nodiscard]] Result<Digest> digest_param(const nlohmann::json& params, std::string_view name);
[[nodiscard]] Result<std::vector<std::string>> texts_param(const nlohmann::json& params, std::string_view name, std::size_t max_count, std::size_t max_bytes);
// The id of a job; only its form is checked. Error no_job.
[[nodiscard]] Result<std::string> job_param(const nlohmann::json& params);

} // namespace remotemac::daemon
