// The same call must give the same bits, again and again and after a call with another shape (stale caches, races, buffers used twice).
#include "daemon/worker/op_table.h"
#include "daemon/worker/probe.h"

namespace remotemac::worker {

std::vector<Case> repeat_cases(Profile profile) {
  std::vector<Case> cases;
  for (const Sample& sample : all_samples()) {
    if (profile == Profile::quick && sample.repeated == Repeated::no)
      continue;
    Case each;
    each.name = "identical";
    each.id = "repeat." + std::string(sample.name) + ".identical";
    each.check = Check::repeat;
    each.signature = sample.make(8);
    each.other = sample.make(5);
    each.repeats = profile == Profile::quick ? 10 : profile == Profile::standard ? 50 : 200;
    cases.push_back(std::move(each));
  }
  return cases;
}

} // namespace remotemac::worker
