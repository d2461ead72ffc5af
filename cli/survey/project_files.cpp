#include "cli/survey/project_files.h"

#include "common/fd.h"
#include "common/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace remotemac::survey {
namespace {
namespace fs = std::filesystem;
constexpr std::size_t k_max_files = 50'000;
constexpr std::size_t k_max_depth = 32;
constexpr std::size_t k_max_link_gaps = 20;
constexpr std::array<std::string_view, 6> k_tool_folders = {"__pycache__", "node_modules", "site-packages", "build", "dist", "wandb"};

struct Walk {
  std::map<std::string, std::uint64_t>& files;
  std::vector<SurveyGap>& gaps;
  std::size_t links = 0;
  bool full = false;
};

bool is_tool_folder(const fs::path& path, const std::string& name) {
  if (name.starts_with('.') || name.ends_with(".egg-info") || std::ranges::find(k_tool_folders, name) != k_tool_folders.end())
    return true;
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path / "pyvenv.cfg", ignored)) || fs::exists(fs::symlink_status(path / "conda-meta", ignored));
}

void take(Walk& walk, const fs::directory_entry& entry, const std::string& shown, std::vector<std::string>& folders) {
  std::error_code failed;
  const fs::file_status status = entry.symlink_status(failed);
  if (fs::is_symlink(status)) {
    if (++walk.links <= k_max_link_gaps)
      walk.gaps.push_back({shown, "is a link; links are not followed"});
  } else if (fs::is_directory(status)) {
    if (!is_tool_folder(entry.path(), entry.path().filename().string()))
      folders.push_back(shown);
  } else if (fs::is_regular_file(status)) {
    const std::uint64_t size = entry.file_size(failed);
    walk.files.emplace(shown, failed ? 0 : size);
    walk.full = walk.files.size() >= k_max_files;
  }
}

void list_folder(Walk& walk, const fs::path& root, const std::string& folder, std::vector<std::string>& folders) {
  std::error_code failed;
  fs::directory_iterator entries(folder.empty() ? root : root / folder, failed);
  if (failed) {
    walk.gaps.push_back({folder.empty() ? "." : clean_line(folder), "cannot be listed: " + failed.message()});
    return;
  }
  for (const fs::directory_iterator end; entries != end && !walk.full && !failed; entries.increment(failed)) {
    const std::string name = entries->path().filename().string();
    const std::string shown = folder.empty() ? name : folder + "/" + name;
    if (!is_valid_utf8(name))
      walk.gaps.push_back({clean_line(shown), "its name is not UTF-8; not read"});
    else
      take(walk, *entries, shown, folders);
  }
}
} // namespace

ProjectFiles ProjectFiles::list(const fs::path& root, std::vector<SurveyGap>& gaps) {
  ProjectFiles out;
  out.m_root = root;
  Walk walk{out.m_files, gaps};
  std::vector<std::string> level{""};
  for (std::size_t depth = 0; !level.empty() && !walk.full; ++depth) { // by levels, so that a limit cuts off the deepest files
    if (depth > k_max_depth) {
      gaps.push_back({level.front(), "lies more than " + std::to_string(k_max_depth) + " folders deep; not read"});
      break;
    }
    std::vector<std::string> next;
    for (const std::string& folder : level)
      list_folder(walk, root, folder, next);
    std::ranges::sort(next);
    level = std::move(next);
  }
  if (walk.full)
    gaps.push_back({".", "has more than " + std::to_string(k_max_files) + " files; the rest was not read"});
  if (walk.links > k_max_link_gaps)
    gaps.push_back({".", std::to_string(walk.links - k_max_link_gaps) + " more links; links are not followed"});
  return out;
}

bool ProjectFiles::has_folder(const std::string& path) const {
  const auto next = m_files.lower_bound(path + "/");
  return next != m_files.end() && next->first.starts_with(path + "/");
}

std::vector<std::string> ProjectFiles::with_suffix(std::string_view suffix) const {
  std::vector<std::string> out;
  for (const auto& [path, size] : m_files)
    if (path.ends_with(suffix))
      out.push_back(path);
  return out;
}

std::string ProjectFiles::read(const std::string& path, std::vector<SurveyGap>& gaps) const {
  const UniqueFd file(::open((m_root / path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) {
    gaps.push_back({path, std::string("cannot be read: ") + std::strerror(errno)});
    return {};
  }
  if (!S_ISREG(found.st_mode) || static_cast<std::uint64_t>(found.st_size) > k_max_source_bytes) {
    gaps.push_back({path, "is larger than " + human_bytes(k_max_source_bytes) + "; not read"});
    return {};
  }
  std::string text(static_cast<std::size_t>(found.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t n = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    filled += static_cast<std::size_t>(n);
  }
  text.resize(filled);
  if (!is_valid_utf8(text)) {
    gaps.push_back({path, "is not UTF-8 text; not read"});
    return {};
  }
  return text;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash + 1));
}

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string inside_project(const std::string& folder, std::string_view path) {
  if (path.empty() || path.front() == '/')
    return {};
  std::vector<std::string> parts;
  for (const std::string& part : split(folder + std::string(path), '/')) {
    if (part.empty() || part == ".")
      continue;
    if (part != "..") {
      parts.push_back(part);
      continue;
    }
    if (parts.empty())
      return {};
    parts.pop_back();
  }
  return join(parts, "/");
}

} // namespace remotemac::survey
