#include "common/key_doc.h"

namespace remotemac {

std::string key_table(std::span<const KeyDoc> keys) {
  std::string out = "| table | key | value | meaning |\n|---|---|---|---|\n";
  for (const KeyDoc& doc : keys)
    out += "| `" + std::string(doc.table) + "` | `" + doc.key + "` | " + doc.value + " | " + doc.meaning + " |\n";
  return out;
}

} // namespace remotemac
