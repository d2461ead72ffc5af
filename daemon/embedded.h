#pragma once
// Files that the build puts into the program (cmake/Embed.cmake).
#include <string_view>

namespace remotemac::embedded {
extern const std::string_view harness_py;
}
