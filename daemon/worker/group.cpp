#include "daemon/worker/group.h"

#include "common/text.h"
#include "daemon/worker/child_runner.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace remotemac::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view k_own = "remotemac-worker: ";

// The error that a child of this program ended with, else the last thing that was said.
std::string last_line(const std::string& text) {
  const std::vector<std::string> lines = split(text, '\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (line->starts_with(k_own))
      return clean_line(std::string_view(*line).substr(k_own.size()), 300);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (!trim(*line).empty())
      return clean_line(trim(*line), 300);
  return {};
}

// One pass of a group: a child and what its end means.
class GroupRun {
public:
  GroupRun(const GroupPlan& plan, const Limits& limits) : m_plan(plan), m_limits(limits) {
    m_report.name = plan.name;
    m_report.findings = plan.drafts;
  }

  GroupReport run() {
    m_report.status = GroupStatus::ok;
    const auto start = std::chrono::steady_clock::now();
    for (int pass = 0; m_next < m_plan.drafts.size(); ++pass) {
      const auto used = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
      if (pass > m_limits.restarts) {
        give_up("the group was stopped after " + std::to_string(pass) + " crashes or hangs");
        break;
      }
      if (used >= m_limits.group) {
        give_up("the time of the group was used up");
        break;
      }
      if (!one_pass(m_limits.group - used))
        break;
    }
    m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(m_report);
  }

private:
  // False when the group has come to its end.
  bool one_pass(milliseconds left) {
    ChildSpec spec;
    spec.arguments = m_plan.arguments;
    spec.arguments.insert(spec.arguments.end(), {"--journal", m_plan.journal.string(), "--skip", std::to_string(m_next)});
    spec.journal = m_plan.journal;
    spec.environment = m_plan.environment;
    spec.quiet_limit = std::min(m_limits.one_case, std::max(m_limits.group / 2, milliseconds(1)));
    spec.total_limit = left;
    const auto child = run_child(spec);
    if (!child)
      return fail(child.error().chain());
    const auto journal = read_journal(m_plan.journal);
    if (!journal)
      return fail(journal.error().chain());
    take(*journal);
    m_report.exit_code = child->exit_code;
    if (child->end == EndOfChild::exited && child->exit_code == 0)
      return false;
    m_report.signal = child->end == EndOfChild::signalled ? child->signal : 0;
    m_report.stderr_tail = child->stderr_tail;
    const JournalEntry* open = journal->in_flight();
    if (open == nullptr || open->index < m_next)
      return fail(open_failure(*child));
    blame(*open, *child);
    m_next = open->index + 1;
    return child->end != EndOfChild::total_limit;
  }

  std::string open_failure(const ChildResult& child) const {
    const std::string said = last_line(child.stderr_tail);
    if (child.end == EndOfChild::exited)
      return said.empty() ? "the process of the group ended with status " + std::to_string(child.exit_code) : said;
    return "the process of the group " + (child.end == EndOfChild::signalled ? "ended by " + signal_name(child.signal) : std::string("did not get ready in time")) + (said.empty() ? "" : ": " + said);
  }

  bool fail(const std::string& why) {
    m_report.status = GroupStatus::error;
    give_up(why);
    return false;
  }

  // Cases that were not reached.
  void give_up(const std::string& why) {
    for (std::size_t i = m_next; i < m_report.findings.size(); ++i) {
      m_report.findings[i].status = Status::not_tested;
      m_report.findings[i].detail = why;
    }
    m_next = m_report.findings.size();
  }

  void take(const Journal& journal) {
    if (journal.session)
      m_report.session = journal.session;
    for (const JournalEntry& entry : journal.entries) {
      if (entry.index >= m_report.findings.size())
        continue;
      m_report.last_case = m_plan.drafts[entry.index].id;
      if (entry.ended)
        put(entry.index, entry.finding);
    }
  }

  // The parent's names stand: they say what was asked for, also where the replay calls another operator.
  void put(std::size_t index, const Finding& finding) {
    const Finding& draft = m_plan.drafts[index];
    Finding& target = m_report.findings[index];
    target = finding;
    target.id = draft.id;
    target.operation = draft.operation;
    target.name = draft.name;
    if (!draft.detail.empty())
      target.detail = target.detail.empty() ? draft.detail : draft.detail + "; " + target.detail;
  }

  void blame(const JournalEntry& open, const ChildResult& child) {
    Finding finding = open.finding;
    const std::string said = last_line(child.stderr_tail);
    const std::string with_words = said.empty() ? "" : ": " + said;
    const bool reference = open.stage == "reference";
    if (child.end == EndOfChild::quiet_limit) {
      finding.status = reference ? Status::not_tested : Status::hang;
      finding.detail = reference ? "the CPU did not compute the reference in time" : "no answer within " + human_seconds(static_cast<double>(std::min(m_limits.one_case, m_limits.group / 2).count()) / 1000) + with_words;
    } else if (child.end == EndOfChild::total_limit) {
      finding.status = Status::not_tested;
      finding.detail = "the time of the group was used up";
    } else if (reference || child.signal == SIGKILL) {
      finding.status = Status::not_tested;
      finding.detail = reference ? "the process ended while the CPU computed the reference" + with_words : "the process was killed, most likely for its memory";
    } else {
      finding.status = Status::crash;
      finding.detail = (child.end == EndOfChild::signalled ? "the process ended by " + signal_name(child.signal) : "the process ended with status " + std::to_string(child.exit_code)) + with_words;
    }
    if (finding.status == Status::crash)
      m_report.status = GroupStatus::crash;
    else if (finding.status == Status::hang && m_report.status != GroupStatus::crash)
      m_report.status = GroupStatus::hang;
    put(open.index, finding);
    if (child.end == EndOfChild::total_limit) {
      m_next = open.index + 1;
      give_up("the time of the group was used up");
    }
  }

  const GroupPlan& m_plan;
  const Limits& m_limits;
  GroupReport m_report;
  std::size_t m_next = 0;
};

} // namespace

std::string_view group_status_name(GroupStatus status) {
  switch (status) {
  case GroupStatus::ok:
    return "ok";
  case GroupStatus::crash:
    return "crash";
  case GroupStatus::hang:
    return "hang";
  case GroupStatus::error:
    return "error";
  case GroupStatus::not_run:
    break;
  }
  return "not-run";
}

GroupReport run_group(const GroupPlan& plan, const Limits& limits) {
  std::error_code ignored;
  std::filesystem::remove(plan.journal, ignored);
  return GroupRun(plan, limits).run();
}

} // namespace remotemac::worker
