#pragma once
// The files of a project, without following links and without the folders of tools and environments. Blocking; any thread.
#include "common/survey.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::survey {

inline constexpr std::uint64_t k_max_source_bytes = std::uint64_t{1} << 20; // a larger text is named, not read

class ProjectFiles {
public:
  // Never fails: what cannot be listed is a gap.
  [[nodiscard]] static ProjectFiles list(const std::filesystem::path& root, std::vector<SurveyGap>& gaps);

  [[nodiscard]] const std::map<std::string, std::uint64_t>& all() const { return m_files; } // path -> bytes
  [[nodiscard]] bool has(const std::string& path) const { return m_files.contains(path); }
  [[nodiscard]] bool has_folder(const std::string& path) const; // with at least one file somewhere below it
  [[nodiscard]] std::vector<std::string> with_suffix(std::string_view suffix) const;
  // The text of a listed file; a gap and "" when it is too large or cannot be read.
  [[nodiscard]] std::string read(const std::string& path, std::vector<SurveyGap>& gaps) const;

private:
  std::filesystem::path m_root;
  std::map<std::string, std::uint64_t> m_files;
};

// "a/b.txt" -> "a/", "b.txt" -> ""
[[nodiscard]] std::string folder_of(std::string_view path);
[[nodiscard]] std::string_view base_of(std::string_view path);
// `path` as written in a file of `folder` ("a/"), without . and ..; "" when it is absolute or leaves the project.
[[nodiscard]] std::string inside_project(const std::string& folder, std::string_view path);

} // namespace remotemac::survey
