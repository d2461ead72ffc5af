#pragma once
// One function per format: both sides' bytes in, pairs out. A file that cannot be read is one pair, status unreadable.
#include "cli/compare/collector.h"
#include "cli/compare/compare.h"

#include <string_view>

namespace remotemac::compare {

struct FilePair {
  std::string_view name;
  std::string_view run;
  std::string_view reference;
  const std::map<std::string, Tolerance>* tolerances = nullptr;
};

void compare_json(const FilePair& files, Collector& out);
void compare_npy(const FilePair& files, Collector& out);
void compare_npz(const FilePair& files, Collector& out);

[[nodiscard]] inline OutputPair pair_of(const FilePair& files, std::string_view key, OutputStatus status,
    std::string detail = {}) {
  OutputPair out;
  out.file = files.name;
  out.key = key;
  out.status = status;
  out.detail = std::move(detail);
  return out;
}

} // namespace remotemac::compare
