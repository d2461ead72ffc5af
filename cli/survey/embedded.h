#pragma once
// Files compiled into the program (cmake/Embed.cmake).
#include <string_view>

namespace remotemac::embedded {
extern const std::string_view parse_sources_py; // cli/survey/parse_sources.py
}
