#pragma once
// What `init` finds in a project folder: likely entry points, requirement files, data folders. Names only; contents of data files are not
// opened, Python files are looked at for a main guard. Never follows links.
#include "common/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::cli {

struct DataFolder {
  std::string path;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> kinds; // file name endings, most frequent first
};

struct InitScan {
  std::string name;
  std::vector<std::string> entries; // best guess first
  std::vector<std::string> requirements;
  std::vector<std::string> settings; // patterns of configuration files that a run may read (conf/*.yaml), for the source data set
  std::vector<DataFolder> data;
  std::uint64_t python_files = 0;
  bool limited = false; // stopped at 200 000 entries
};

[[nodiscard]] Result<InitScan> scan_for_init(const std::filesystem::path& root);
// The commented remotemac.toml that allows nothing.
[[nodiscard]] std::string draft_project_file(const InitScan& scan);

} // namespace remotemac::cli
