#pragma once
// What the worker found out, one record per case of the battery or signature of the recording, and its JSON (docs/evidence.md).
#include "common/result.h"
#include "daemon/worker/bands.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace remotemac::worker {

// id, spelling, does it stand for something wrong with the device?
#define RM_WORKER_STATUSES(X)                                                                                          \
  X(pass, "pass", no)                                                                                                  \
  X(note, "note", no)                                                                                                  \
  X(fail, "fail", yes)                                                                                                 \
  X(crash, "crash", yes)                                                                                               \
  X(hang, "hang", yes)                                                                                                 \
  X(not_tested, "not-tested", no)                                                                                      \
  X(native, "native", no)                                                                                              \
  X(fallback, "fallback", yes)                                                                                         \
  X(unsupported, "unsupported", yes)                                                                                   \
  X(mismatch, "mismatch", yes)

enum class Status {
#define RM_X(id, name, wrong) id,
  RM_WORKER_STATUSES(RM_X)
#undef RM_X
};

[[nodiscard]] std::string_view status_name(Status status);
[[nodiscard]] std::optional<Status> status_from_name(std::string_view name);
// True when a command that met this status ends with 1.
[[nodiscard]] bool stands_for_trouble(Status status);

struct Finding {
  std::string id;        // "layout.softplus.transposed"
  std::string operation; // "aten::softplus"
  std::string name;      // "transposed"
  Status status = Status::not_tested;
  std::string detail;
  std::string reproduce;
  std::optional<ErrorStats> error;
  std::optional<double> seconds_per_call;
  // No kernel for the device, but the CPU could step in: the replay asks a second time, with the fallback allowed.
  bool missing_operator = false;
};

[[nodiscard]] nlohmann::json error_json(const std::optional<ErrorStats>& error);
// Between child and parent (the journal).
[[nodiscard]] nlohmann::json to_json(const Finding& finding);
[[nodiscard]] Result<Finding> finding_from_json(const nlohmann::json& value);

} // namespace remotemac::worker
