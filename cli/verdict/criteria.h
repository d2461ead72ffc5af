#pragma once
// The vocabulary of the verdict: the criteria and the causes that lower a class. One table each; everything else refers to their
// ids. Internal to cli/verdict.
#include "cli/verdict/verdict.h"

#include <span>
#include <string>
#include <string_view>

namespace remotemac::verdict {

struct CriterionRow {
  std::string_view id;
  std::string_view title;
};
[[nodiscard]] std::span<const CriterionRow> criteria_table();

struct CauseRow {
  std::string_view id;
  Class allows;  // the best class that is still possible where it applies
  Ground ground; // for cuda-required
  std::string_view summary;
  std::string_view next_step;
};
// In order of weight. cuda-required first.
[[nodiscard]] std::span<const CauseRow> causes_table();
[[nodiscard]] const CauseRow& cause(std::string_view id);

// Builds one criterion: its status is the worst of its lines, its class the lowest.
class Sheet {
public:
  explicit Sheet(std::string_view id);
  void pass(std::string text) { add({std::move(text), Status::pass, Class::suitable, {}, false}); }
  void note(std::string text, Status status = Status::not_applicable) {
    add({std::move(text), status, Class::suitable, {}, false});
  }
  void open_note(std::string text) { add({std::move(text), Status::not_applicable, Class::suitable, {}, true}); }
  void limit(std::string_view cause_id, Status status, std::string text);
  [[nodiscard]] Criterion take() && { return std::move(m_criterion); }

private:
  void add(Line line);
  Criterion m_criterion;
};

// "1 file", "3 files"
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view one, std::string_view many);
[[nodiscard]] std::string percent(double share);
// " (train.py:12)" or "" when the place is unknown.
[[nodiscard]] std::string at_place(std::string_view file, int line);
[[nodiscard]] std::string place(std::string_view file, int line);

} // namespace remotemac::verdict
