#pragma once
// remotemac.toml, the parts that are not policy: [project], [run], [compare]. The [[data]], [[exclude]] and [[rule]] tables of the
// same file belong to policies/ and are read there from the same text.
#include "common/job.h"
#include "common/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::cli {

struct Tolerance {
  std::optional<double> absolute;
  std::optional<double> relative;
};

struct ProjectFile {
  std::filesystem::path root; // absolute, the folder of remotemac.toml
  std::string file_text;
  std::string name;
  std::string purpose;
  std::string scale; // mini, real
  std::vector<std::string> command;
  std::vector<RelPath> outputs;
  std::vector<RelPath> requirements;
  std::map<std::string, std::string> env;
  std::string profile; // battery: quick, standard, full
  JobLimits limits;
  std::uint64_t keep_s = 7 * 24 * 3600;
  std::map<std::string, Tolerance> tolerances; // "file:key"
};

inline constexpr const char* k_project_file_name = "remotemac.toml";

// Looks in `start` and its parents. Error project when there is none (hint: remotemac init).
[[nodiscard]] Result<std::filesystem::path> find_project_root(const std::filesystem::path& start);
[[nodiscard]] Result<ProjectFile> read_project_file(const std::filesystem::path& root);
[[nodiscard]] Result<ProjectFile> parse_project_file(const std::string& text, const std::string& file_name);
// For docs/config.md: Markdown of every table and key with its meaning.
[[nodiscard]] std::string project_file_reference();

} // namespace remotemac::cli
