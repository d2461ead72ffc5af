// The layout matrix: every operator of the table with inputs that lie otherwise in memory, where most silent errors were found.
#include "daemon/worker/layouts.h"
#include "daemon/worker/op_table.h"
#include "daemon/worker/probe.h"

namespace remotemac::worker {
namespace {

void add_cases(std::vector<Case>& cases, const Sample& sample, std::int64_t batch, Arguments arguments) {
  for (const Layout layout : all_layouts()) {
    auto signature = with_layout(sample.make(batch), layout, arguments);
    if (!signature)
      continue;
    Case each;
    each.name = std::string(layout_name(layout)) + (arguments == Arguments::first ? "-first" : "") + (batch == 4 ? "" : "-" + std::to_string(batch));
    each.id = "layout." + std::string(sample.name) + "." + each.name;
    each.check = Check::layout;
    each.signature = std::move(*signature);
    cases.push_back(std::move(each));
  }
}

} // namespace

std::vector<Case> layout_cases(Profile profile) {
  std::vector<Case> cases;
  for (const Sample& sample : all_samples()) {
    add_cases(cases, sample, 4, Arguments::all);
    if (profile == Profile::quick)
      continue;
    add_cases(cases, sample, 4, Arguments::first);
    add_cases(cases, sample, 37, Arguments::all);
    if (profile == Profile::full)
      add_cases(cases, sample, 1025, Arguments::all);
  }
  return cases;
}

} // namespace remotemac::worker
