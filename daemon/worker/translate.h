#pragma once
// Operators that exist on one device only: a recording made on a CPU or on CUDA names them, MPS takes another way. Where the same
// call can be made by an operator that every device has, the replay makes that one. Pure; one table.
#include "daemon/worker/signature.h"

#include <string>

namespace remotemac::worker {

// Replaces the signature by its portable form and says so in the result; sets `problem` where there is none. "" when nothing changed.
[[nodiscard]] std::string translate(Signature& signature);

} // namespace remotemac::worker
