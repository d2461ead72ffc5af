#include "cli/verdict/verdict.h"

#include "cli/verdict/criteria.h"
#include "cli/verdict/judges.h"

#include <algorithm>
#include <array>

namespace remotemac::verdict {
namespace {

constexpr std::array<std::string_view, 3> k_classes{"cuda-required", "development-and-test", "suitable"};
constexpr std::array<std::string_view, 5> k_statuses{"pass", "limited", "not-shown", "fail", "not-applicable"};
constexpr std::array<std::string_view, 3> k_grounds{"", "shown-not-to-work", "not-sufficiently-shown"};

template <std::size_t N> std::string_view at(const std::array<std::string_view, N>& names, std::size_t index) {
  return index < N ? names[index] : std::string_view();
}

std::vector<Criterion> judge_all(const Facts& facts) {
  return {judge_versions(facts),  judge_dependencies(facts), judge_backend(facts),  judge_run(facts),
          judge_placement(facts), judge_operations(facts),   judge_outputs(facts),  judge_conditions(facts),
          judge_time(facts),      judge_policy(facts),       judge_numerics(facts), judge_memory(facts)};
}

// One per cause, in the order of the table of causes, which is their weight.
std::vector<Reason> collect_reasons(const std::vector<Criterion>& criteria) {
  std::vector<Reason> out;
  for (const CauseRow& row : causes_table()) {
    Reason reason{row.id, std::string(row.summary), "", row.allows, {}};
    for (const Criterion& criterion : criteria) {
      for (const Line& line : criterion.lines) {
        if (line.cause != row.id)
          continue;
        if (reason.criteria.empty() || reason.criteria.back() != criterion.id)
          reason.criteria.push_back(criterion.id);
        // Where an operation is refused, C6 names it; else the first line says it.
        const bool names_it =
            criterion.id == "C6" && row.ground == Ground::shown_not_to_work && reason.detail.find("refuses") == std::string::npos;
        if (reason.detail.empty() || names_it)
          reason.detail = line.text;
      }
    }
    if (!reason.criteria.empty())
      out.push_back(std::move(reason));
  }
  return out;
}

void collect_not_shown(const Evidence& evidence, Verdict& verdict) {
  const auto add = [&verdict](std::string text) {
    if (std::ranges::find(verdict.not_shown, text) == verdict.not_shown.end())
      verdict.not_shown.push_back(std::move(text));
  };
  for (const Criterion& criterion : verdict.criteria) {
    for (const Line& line : criterion.lines) {
      if (line.status == Status::not_shown || line.open)
        add(std::string(criterion.id) + ": " + line.text);
    }
  }
  for (const auto& [part, why] : evidence.absent)
    add("Part " + part + " of the evidence is not there: " + why);
  if (evidence.project.scale != "real")
    add("How the full task behaves: what was run is a reduced run of it.");
  add("That results stay right with another version of macOS or PyTorch, or with inputs of other shapes.");
}

void collect_next_steps(Verdict& verdict) {
  for (const Reason& reason : verdict.reasons) {
    std::string step(cause(reason.cause).next_step);
    if (std::ranges::find(verdict.next_steps, step) == verdict.next_steps.end())
      verdict.next_steps.push_back(std::move(step));
  }
  if (verdict.reasons.empty())
    verdict.next_steps.emplace_back("run again after every update of macOS, of PyTorch or of the project: remotemac run");
}

Ground ground_of(const std::vector<Reason>& reasons) {
  Ground out = Ground::not_sufficiently_shown;
  for (const Reason& reason : reasons) {
    if (reason.allows == Class::cuda_required && cause(reason.cause).ground == Ground::shown_not_to_work)
      out = Ground::shown_not_to_work;
  }
  return out;
}

} // namespace

std::string_view name_of(Class value) {
  return at(k_classes, static_cast<std::size_t>(value));
}
std::string_view name_of(Status value) {
  return at(k_statuses, static_cast<std::size_t>(value));
}
std::string_view name_of(Ground value) {
  return at(k_grounds, static_cast<std::size_t>(value));
}

Verdict judge(const Evidence& evidence) {
  const Facts facts(evidence);
  Verdict verdict;
  verdict.criteria = judge_all(facts);
  verdict.reasons = collect_reasons(verdict.criteria);
  verdict.obstacles = find_obstacles(facts);
  verdict.classification = Class::suitable;
  for (const Criterion& criterion : verdict.criteria)
    verdict.classification = std::min(verdict.classification, criterion.allows);
  if (verdict.classification == Class::cuda_required)
    verdict.ground = ground_of(verdict.reasons);
  collect_not_shown(evidence, verdict);
  if (evidence.broke_off) {
    verdict.reached = Reached::no;
    verdict.classification = Class::cuda_required;
    verdict.ground = Ground::none;
    verdict.why_not = evidence.broke_off->reason.empty() ? "the run broke off at stage " + evidence.broke_off->stage
                                                         : evidence.broke_off->stage + ": " + evidence.broke_off->reason;
    verdict.reasons.clear(); // nothing of it weighs on the project
    verdict.next_steps.push_back(evidence.broke_off->hint.empty() ? "run again" : evidence.broke_off->hint);
    return verdict;
  }
  collect_next_steps(verdict);
  return verdict;
}

std::string_view verdict_name(const Verdict& verdict) {
  return verdict.reached == Reached::no ? "no verdict" : name_of(verdict.classification);
}

bool is_below(const Verdict& verdict, std::string_view require) {
  const auto* wanted = std::ranges::find(k_classes, require);
  return verdict.reached == Reached::no || wanted == k_classes.end() ||
         static_cast<std::size_t>(verdict.classification) < static_cast<std::size_t>(wanted - k_classes.begin());
}

std::string_view use_from_now_on(const Verdict& verdict) {
  if (verdict.reached == Reached::no)
    return "Nothing is decided: the run broke off for a reason outside the project.";
  switch (verdict.classification) {
  case Class::suitable:
    return "The Mac can do this task with these versions; keep the reference and compare again after every update.";
  case Class::development_and_test: return "Edit and test on the Mac; the runs that count stay on CUDA.";
  case Class::cuda_required: break;
  }
  return verdict.ground == Ground::shown_not_to_work
             ? "This task stays on CUDA: something that it needs does not work on the Mac."
             : "This task stays on CUDA until more is shown.";
}

} // namespace remotemac::verdict
