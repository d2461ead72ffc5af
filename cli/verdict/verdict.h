#pragma once
// From evidence to a verdict: a pure function, no I/O, safe from any thread, never throws. What is missing counts as not shown
// and can only lower the class. Each criterion says what it rests on; each reason says which class it still allows.
#include "common/evidence.h"

#include <string>
#include <string_view>
#include <vector>

namespace remotemac::verdict {

enum class Reached { yes, no };
// Ascending: a smaller class is a worse one.
enum class Class { cuda_required, development_and_test, suitable };
enum class Status { pass, limited, not_shown, fail, not_applicable };
// cuda-required has two grounds that are always told apart.
enum class Ground { none, shown_not_to_work, not_sufficiently_shown };

// One sentence of evidence, with its numbers.
struct Line {
  std::string text;
  Status status = Status::pass;
  Class allows = Class::suitable; // the best class that is still possible
  std::string_view cause;         // id in the table of causes (cause_summary); "" when it lowers nothing
  bool open = false;              // not shown by itself, though another line covers it: belongs to Verdict::not_shown
};

struct Criterion {
  std::string_view id;    // C1..C12
  std::string_view title; // from the table of criteria
  Status status = Status::not_applicable;
  Class allows = Class::suitable;
  std::vector<Line> lines;
};

// What lowers the class. One per cause, the heaviest first; a cause that meets several criteria is one reason.
struct Reason {
  std::string_view cause;
  std::string text;   // "the backend is simulated"
  std::string detail; // the first line of evidence for it
  Class allows = Class::development_and_test;
  std::vector<std::string_view> criteria;
};

// Something in the project that stands in the way.
struct Obstacle {
  std::string what;
  std::string where;   // "train.py:12", "" when unknown
  std::string effort;  // minutes, hours, days, rewrite; "" when unknown
  std::string instead; // "" when nothing is known
};

struct Verdict {
  Reached reached = Reached::yes;
  std::string why_not;                         // reached == no: what broke the run off
  Class classification = Class::cuda_required; // meaningless when not reached
  Ground ground = Ground::none;
  std::vector<Criterion> criteria; // always twelve, in order
  std::vector<Reason> reasons;
  std::vector<Obstacle> obstacles;
  std::vector<std::string> next_steps;
  std::vector<std::string> not_shown;
};

[[nodiscard]] Verdict judge(const Evidence& evidence);

[[nodiscard]] std::string_view name_of(Class value);  // suitable, development-and-test, cuda-required
[[nodiscard]] std::string_view name_of(Status value); // pass, limited, not-shown, fail, not-applicable
[[nodiscard]] std::string_view name_of(Ground value); // "", shown-not-to-work, not-sufficiently-shown
// The name of the class, or "no verdict".
[[nodiscard]] std::string_view verdict_name(const Verdict& verdict);
// Is the verdict worse than the class named? An unknown name and a verdict that was not reached count as below.
[[nodiscard]] bool is_below(const Verdict& verdict, std::string_view require);
// How the Mac is to be used from now on, one sentence.
[[nodiscard]] std::string_view use_from_now_on(const Verdict& verdict);

} // namespace remotemac::verdict
