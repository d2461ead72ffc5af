#pragma once
// One requirement as written (PEP 508, and what pip allows besides), and environment markers seen from a Mac. Pure; any thread.
#include "common/survey.h"

#include <optional>
#include <string>
#include <string_view>

namespace remotemac::survey {

// nullopt when the text is no requirement. Fills name, specifier, marker, extras, source, origin, skipped_on_mac. Credentials,
// queries and fragments of URLs are dropped.
[[nodiscard]] std::optional<SurveyRequirement> parse_requirement(std::string_view text);
[[nodiscard]] std::string url_without_secrets(std::string_view url);

enum class Marker { no, yes, unknown };
// On macOS with Apple silicon and CPython; unknown when it hangs on the Python version, an extra, or is not a valid marker.
[[nodiscard]] Marker marker_on_mac(std::string_view marker);

} // namespace remotemac::survey
