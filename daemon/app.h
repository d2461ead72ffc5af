#pragma once
// remotemacd: command line in, exit status out. For programs, not people: `remotemac` and ssh start it, and a person who looks.
#include <string>
#include <vector>

namespace remotemac::daemon {

[[nodiscard]] int run_app(const std::vector<std::string>& arguments);

} // namespace remotemac::daemon
