#pragma once
// What the gate says about a file, and why. Plain values. Never holds what a detector matched: kind, count and place only.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::policies {

enum class Confidence { low, medium, high };

struct Finding {
  std::string detector; // id of the detector table
  Confidence confidence = Confidence::low;
  std::uint64_t count = 0;
  std::string place; // of the first: "line 3", "column iban", "name"
};

enum class FileVerdict { approved, refused, excluded, not_proposed };

struct FileDecision {
  std::string path; // cleaned for display where the name itself is not usable; a folder ends in '/'
  std::uint64_t size_bytes = 0;
  FileVerdict verdict = FileVerdict::not_proposed;
  std::string data_set;
  std::string data_class;
  std::string kind;  // of the inspector that read it to the end: text, json, table, notebook, array
  std::string rule;  // built-in id, or the project's rule id
  std::string layer; // built-in, project
  std::string place; // remotemac.toml:12
  std::string reason;
  std::vector<Finding> findings;
};

[[nodiscard]] std::string_view name_of(FileVerdict value);
[[nodiscard]] std::string_view name_of(Confidence value);
// "2 IBAN (line 3), 1 e-mail address (line 7)"
[[nodiscard]] std::string describe(const std::vector<Finding>& findings);

} // namespace remotemac::policies
