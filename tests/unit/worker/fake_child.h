#pragma once
// run_group() starts its own program again. This test program, started so, plays a child after the script in its arguments instead
// of running tests: no device, no libtorch, every way to end.
#include <string>
#include <vector>

namespace remotemac::worker::fake {

// Arguments that make this program a child which runs one case per word: "pass", "fail", "abort", "hang", "hang-reference",
// "abort-reference", "exit". A first word "no-start" ends before anything is written.
[[nodiscard]] std::vector<std::string> fake_child(const std::vector<std::string>& script);

} // namespace remotemac::worker::fake
