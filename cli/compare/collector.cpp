#include "cli/compare/collector.h"

#include "common/text.h"

#include <algorithm>

namespace remotemac::compare {
namespace {

std::size_t rank_of(OutputStatus status) {
  if (status == OutputStatus::equal)
    return 2;
  return status == OutputStatus::relaxed || status == OutputStatus::not_compared ? 1 : 0;
}

} // namespace

void Collector::add(OutputPair pair) {
  const std::uint64_t number = m_total++;
  ++m_counts[std::string(name_of(pair.status))];
  std::vector<Numbered>& kept = m_kept[rank_of(pair.status)];
  if (kept.size() >= k_max_outputs)
    return;
  for (std::string* text : {&pair.file, &pair.key, &pair.dtype, &pair.shape_run, &pair.shape_reference, &pair.detail})
    *text = clean_line(*text, 300);
  kept.emplace_back(number, std::move(pair));
}

void Collector::write_to(Comparison& comparison) {
  std::vector<Numbered> all;
  for (std::vector<Numbered>& kept : m_kept)
    for (Numbered& each : kept)
      if (all.size() < k_max_outputs)
        all.push_back(std::move(each));
  std::sort(all.begin(), all.end(), [](const Numbered& a, const Numbered& b) { return a.first < b.first; });
  for (Numbered& each : all)
    comparison.outputs.push_back(std::move(each.second));
  comparison.outputs_total = m_total;
  comparison.counts = std::move(m_counts);
}

} // namespace remotemac::compare
