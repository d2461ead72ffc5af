#pragma once
// Submits a job exactly once, also when the line breaks between the request and its answer: the request carries a random key, and the
// same key gives the same job however often it is submitted (docs/protocol.md).
#include "sync/remote_client.h"

#include <functional>

namespace remotemac::sync {

// A new connection to the same daemon after the old one broke. The new client must live until submit_once() returns; when there is none
// (an error), the old one must.
using Reconnect = std::function<Result<RemoteClient*>()>;

struct SubmitTimes {
  int attempts = 4;
  std::chrono::milliseconds pause{500}; // before the second attempt, then twice as long each time
};

// The job's id. Only an error of the line is met with another attempt; a daemon that does not know keys gets one attempt, and the error
// says that the job may be there.
[[nodiscard]] Result<std::string> submit_once(RemoteClient& client, JobSpec spec, const Reconnect& reconnect, const SubmitTimes& times = {});

} // namespace remotemac::sync
