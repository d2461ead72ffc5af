#pragma once
// The constructs that the survey looks for, with what happens on a Mac and what to write instead. Pure; any thread.
#include "common/survey.h"

#include <span>
#include <string_view>

namespace remotemac::survey {

struct KnownSignal {
  std::string_view id;
  Severity severity;
  std::string_view effect;
  std::string_view instead;
  std::string_view package = ""; // the package that this construct needs even when nothing imports it by name
};

[[nodiscard]] std::span<const KnownSignal> known_signals();
[[nodiscard]] const KnownSignal* known_signal(std::string_view id); // nullptr: not in the table
// A signal with the texts of its entry; the severity drops to note where the place is skipped on a Mac. `id` must be in the table.
[[nodiscard]] SurveySignal make_signal(const KnownSignal& known, std::string file, int line, std::string construct, Reach reach, bool guarded);

} // namespace remotemac::survey
