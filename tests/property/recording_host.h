#pragma once
// A host for the property test: takes what is pushed, asks for every chunk that was offered, and keeps every byte that came over the line.
// Some ask for more than was offered.
#include "policies/approved_set.h"
#include "sync/uploader.h"
#include "tests/support/scripted_server.h"

namespace remotemac::property {

enum class HostKind { honest, greedy, knows_half };

struct PushOutcome {
  Result<sync::PushReport> report;
  std::string on_the_wire; // everything that was sent, in clear
  bool allowed_first = true; // before_first_byte was called before anything of the project was sent
};

// `fail_at` > 0: the line breaks at that call. `before` is called where the record that allows the transfer would be made durable.
[[nodiscard]] PushOutcome push_recorded(const policies::ApprovedSet& approved, HostKind kind, std::size_t fail_at, const std::function<Result<void>()>& before);

} // namespace remotemac::property
