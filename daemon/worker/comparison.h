#pragma once
// What of an operator's outputs can be compared with the reference at all. Pure; one table.
#include "daemon/worker/signature.h"

#include <span>
#include <string>
#include <string_view>

namespace remotemac::worker {

enum class Comparison {
  values,     // everything
  shapes,     // random or uninitialised values: shape and dtype only
  magnitudes, // signs are free (vectors of decompositions)
  reals,      // integer outputs depend on how ties are broken: floating outputs only
};

enum class Ties { impossible, possible };

// `op` without namespace-independent parts, for example "aten::sort". `ties`: inputs may hold equal values.
[[nodiscard]] Comparison comparison_of(std::string_view op, Ties ties);

// True when the arguments of a random operator leave nothing to chance: dropout of 0, or not in training. `names`: its argument
// names in order. Attention and recurrent layers are such operators, and their values are worth comparing.
[[nodiscard]] bool without_chance(const Signature& signature, std::span<const std::string> names);

// Arguments that an operator writes without saying so in its schema.
[[nodiscard]] bool may_change(std::string_view argument);

} // namespace remotemac::worker
