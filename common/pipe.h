#pragma once
// An anonymous pipe, both ends closed on exec.
#include "common/fd.h"
#include "common/result.h"

namespace remotemac {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

[[nodiscard]] Result<Pipe> make_pipe();

} // namespace remotemac
