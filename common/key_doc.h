#pragma once
// The documentation of a configuration file's keys, kept beside the reader that knows them; the documents are generated from it.
#include <span>
#include <string>

namespace remotemac {

struct KeyDoc {
  const char* table; // "[run]", "[[data]]"
  const char* key;
  const char* value;   // what may be written
  const char* meaning;
};

// A Markdown table of them.
[[nodiscard]] std::string key_table(std::span<const KeyDoc> keys);

} // namespace remotemac
