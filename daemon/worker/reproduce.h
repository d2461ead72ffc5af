#pragma once
// A finding as about ten lines of Python that a person runs on a Mac, with the same values that the worker used: both draw them from
// torch's CPU generator with seed 0, in the same order. Pure.
#include "daemon/worker/domains.h"
#include "daemon/worker/probe.h"

#include <string>

namespace remotemac::worker {

[[nodiscard]] std::string reproduce(const Case& subject, const InputPlan& plan, const std::string& device);

} // namespace remotemac::worker
