#pragma once
// The rule table of domains.h: which argument of which operator gets which values. Data only; part of the planner.
#include "daemon/worker/domains.h"

#include <span>

namespace remotemac::worker {

// Where the bound of an index comes from.
enum class Bound {
  none,
  of_dim,      // size of `source` along the signature's argument `dim`
  rows,        // size of `source` along its first dimension
  classes,     // along its second, or its first where it has one
  plane2,      // product of its last two dimensions
  plane3,      // product of its last three
  elements,    // all of them
  argument,    // the integer argument `source`
  area,        // product of the list argument `source`
  position,    // size of `source` along the dimension that this list item indexes
  batch_time,  // length of the time dimension of `source`, whose place `batch_first` says
  fixed,       // the number
};

struct Rule {
  std::string_view ops; // names without "aten::" and without a trailing "_", separated by blanks
  std::string_view argument;
  Domain domain;
  Bound bound = Bound::none;
  std::string_view source = {};
  std::int64_t number = 0;
};

// The first rule that fits holds.
[[nodiscard]] const Rule* find_rule(std::string_view op, std::string_view argument);

} // namespace remotemac::worker
