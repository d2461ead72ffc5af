#pragma once
// Chooses what a report says, and in which order. Internal to cli/report.
#include "cli/report/document.h"
#include "cli/verdict/verdict.h"
#include "common/evidence.h"

namespace remotemac::report {

enum class Detail { screen, file }; // a file may be longer

[[nodiscard]] Document build(const Evidence& evidence, const verdict::Verdict& verdict, Detail detail);

} // namespace remotemac::report
