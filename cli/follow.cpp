#include "cli/follow.h"

#include "common/json.h"
#include "common/text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace remotemac::cli {
namespace {
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int k_reconnect_attempts = 20;
constexpr milliseconds k_second_press{2000};

// Waits, but ends early when Ctrl-C is pressed.
void pause(const Interrupts& interrupts, milliseconds time) {
  const int before = interrupts.count();
  const Deadline deadline(time);
  while (!deadline.passed() && interrupts.count() == before) {
    pollfd nothing{-1, 0, 0};
    ::poll(&nothing, 1, std::min(deadline.poll_ms(), 100));
  }
}

class Follower {
public:
  Follower(Context& context, const HostRecord& host, Session& session, const std::string& job) : m_context(context), m_host(host), m_session(session), m_job(job) {}

  Result<Followed> run() {
    const Interrupts::Attached attached(m_context.interrupts);
    const int pressed_before = m_context.interrupts.count();
    m_context.out.phase("job", m_job + " on " + m_host.name);
    while (true) {
      if (m_context.interrupts.count() > pressed_before)
        return on_interrupt(pressed_before);
      const auto events = m_session.client->events(m_job, m_after, milliseconds(1000));
      if (!events) {
        if (++m_failures > k_reconnect_attempts) // each time a new connection came about and brought the same error
          return events.error();
        RM_TRY(recover(events.error()));
        continue;
      }
      m_failures = 0;
      for (const nlohmann::json& event : events->events)
        show(event);
      m_after = events->last_seq;
      if (is_final(events->state))
        return finish();
      m_context.out.phase_text(m_step.empty() ? std::string(state_name(events->state)) : "step " + m_step);
    }
  }

private:
  Result<Followed> finish() {
    RM_ASSIGN(JobRecord record, m_session.client->status(m_job));
    std::string text = m_job + " " + std::string(state_name(record.state));
    if (!record.reason.empty() && record.state != JobState::succeeded)
      text += ": " + record.reason;
    m_context.out.phase_done(text);
    return Followed{FollowEnd::finished, std::move(record)};
  }

  Result<Followed> on_interrupt(int pressed_before) {
    m_context.out.note("\nThe job goes on. Press Ctrl-C again within two seconds to cancel it.");
    const Deadline second(k_second_press);
    while (!second.passed() && m_context.interrupts.count() < pressed_before + 2) {
      pollfd nothing{-1, 0, 0};
      ::poll(&nothing, 1, std::min(second.poll_ms(), 50));
    }
    if (m_context.interrupts.count() < pressed_before + 2) {
      m_context.out.phase_done("detached from " + m_job);
      return Followed{FollowEnd::detached, {}};
    }
    m_context.out.note("Cancelling " + m_job + " ...");
    RM_TRY_WHILE("cancelling " + m_job, m_session.client->cancel(m_job));
    const Deadline end(std::chrono::seconds(60));
    while (!end.passed()) {
      RM_ASSIGN(const auto events, m_session.client->events(m_job, m_after, milliseconds(1000)));
      m_after = events.last_seq;
      if (!is_final(events.state))
        continue;
      RM_ASSIGN(Followed out, finish());
      out.end = out.record.state == JobState::cancelled ? FollowEnd::cancelled : FollowEnd::finished; // it may have ended just before
      return out;
    }
    return Error(ErrorCode::deadline, "job " + m_job + " did not end within 60 s after it was cancelled", comeback_text(m_job, m_host.name));
  }

  Result<void> recover(const Error& error) {
    if (retry_helps(error.code()) == Retry::no)
      return error;
    milliseconds wait(500);
    for (int attempt = 1; attempt <= k_reconnect_attempts; ++attempt) {
      m_context.out.note("connection to " + m_host.name + " lost (" + error.message() + "); reconnecting, attempt " + std::to_string(attempt) + " in " + human_seconds(static_cast<double>(wait.count()) / 1000));
      const int before = m_context.interrupts.count();
      pause(m_context.interrupts, wait);
      if (m_context.interrupts.count() > before)
        return ok(); // the loop sees the key press
      Result<Session> again = open_session(m_context, m_host);
      if (again) {
        m_session.client.reset();
        m_session.transport.reset();
        m_session.transport = std::move(again->transport);
        m_session.client = std::move(again->client);
        return ok();
      }
      if (retry_helps(again.error().code()) == Retry::no)
        return again.error();
      wait = std::min(wait * 2, milliseconds(30'000));
    }
    Error final_error = error;
    final_error.set_hint("the job goes on by itself. " + comeback_text(m_job, m_host.name));
    return final_error;
  }

  void show(const nlohmann::json& event) {
    const std::string name = json_text(event, "event");
    const std::string step = clean_line(json_text(event, "step"), 40);
    if (name == "preparing")
      m_step = "environment";
    if (name == "step-started")
      m_step = step;
    if (name == "environment-ready") {
      m_context.out.note("            environment ready" + std::string(json_flag(event, "reused") ? " (reused)" : ""));
      m_step.clear();
    }
    if (name == "step-finished")
      m_context.out.note("            step " + step + ": " + clean_line(json_text(event, "reason"), 80) + "  (" + human_seconds(json_number(event, "seconds")) + ")");
    if (name == "limit")
      m_context.out.note("            limit reached: " + clean_line(json_text(event, "reason"), 200));
  }

  Context& m_context;
  const HostRecord& m_host;
  Session& m_session;
  const std::string m_job;
  std::uint64_t m_after = 0;
  int m_failures = 0; // since the last answer
  std::string m_step;
};
} // namespace

std::string comeback_text(const std::string& job, const std::string& host) {
  return "come back with: remotemac run --attach " + job + "; look: remotemac logs " + job + " --host " + host + "; stop it: remotemac cancel " + job + " --host " + host;
}

Result<Followed> follow_job(Context& context, const HostRecord& host, Session& session, const std::string& job) { return Follower(context, host, session, job).run(); }

} // namespace remotemac::cli
