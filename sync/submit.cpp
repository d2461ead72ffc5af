#include "sync/submit.h"

#include "common/log.h"

#include <poll.h>

namespace remotemac::sync {
namespace {
// What the daemon itself said is final, and so is what a new connection would only meet again.
bool another_attempt_helps(const RemoteClient& client, const Error& error) { return client.is_finished() && retry_helps(error.code()) == Retry::yes; }

Error perhaps_submitted(Error error) {
  error.set_hint("the job may have been submitted nevertheless: look with remotemac jobs before submitting again");
  return error;
}
} // namespace

Result<std::string> submit_once(RemoteClient& client, JobSpec spec, const Reconnect& reconnect, const SubmitTimes& times) {
  spec.submit_key = random_hex(16);
  RemoteClient* at = &client;
  std::chrono::milliseconds pause = times.pause;
  Result<std::string> job = at->submit(spec);
  for (int attempt = 2; !job && another_attempt_helps(*at, job.error()); ++attempt) {
    if (attempt > times.attempts || !at->has_feature("submit-key"))
      return perhaps_submitted(std::move(job).error());
    log_event(LogLevel::warn, "sync", "submit-again", {{"attempt", std::to_string(attempt)}, {"error", job.error().chain()}});
    ::poll(nullptr, 0, static_cast<int>(pause.count()));
    pause *= 2;
    const Result<RemoteClient*> again = reconnect();
    if (!again && retry_helps(again.error().code()) == Retry::no)
      return perhaps_submitted(Error(again.error()));
    if (!again)
      continue; // tried again, with the old error if it stays so
    at = *again;
    if (!at->has_feature("submit-key"))
      return perhaps_submitted(std::move(job).error());
    job = at->submit(spec);
  }
  return job;
}

} // namespace remotemac::sync
