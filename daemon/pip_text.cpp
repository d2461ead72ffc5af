// Pure reading of what pip reads and prints; a part of environment.h in a file of its own.
#include "common/text.h"
#include "daemon/environment.h"
#include "daemon/processes.h"

#include <algorithm>
#include <array>

namespace remotemac::daemon {
namespace {
// Phrases of pip before which or after which the requirement stands.
constexpr std::array<std::string_view, 6> k_before{"No matching distribution found for ", "Could not find a version that satisfies the requirement ", "Failed building wheel for ",
                                                   "Invalid requirement: ", "Could not open requirements file: ", "Failed to build "};

std::string first_word(std::string_view text) {
  text = trim(text);
  const std::size_t end = text.find_first_of(" \t(");
  std::string out(text.substr(0, end));
  std::erase_if(out, [](char c) { return c == '\'' || c == '"' || c == ','; });
  return out;
}

constexpr std::array<std::string_view, 19> k_passed{"HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
                                                    "CURL_CA_BUNDLE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SDKROOT", "DEVELOPER_DIR", "CC", "CXX"};
constexpr std::array<std::string_view, 4> k_passed_any_case{"http_proxy", "https_proxy", "all_proxy", "no_proxy"};
} // namespace

bool has_local_references(std::string_view requirements) {
  for (const std::string& raw : split(requirements, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#')
      continue;
    for (const std::string_view start : {"-e", "--editable", "-r", "--requirement", "-c", "--constraint", ".", "/", "file:"}) {
      if (line.starts_with(start))
        return true;
    }
    if (line.find("@ file:") != std::string_view::npos || line.find("@ .") != std::string_view::npos || line.find("@ /") != std::string_view::npos)
      return true;
  }
  return false;
}

std::string explain_pip_failure(std::string_view log_tail) {
  std::string requirement;
  std::vector<std::string> last;
  for (const std::string& raw : split(log_tail, '\n')) {
    const std::string line = clean_line(trim(raw), 300);
    if (line.empty())
      continue;
    for (const std::string_view phrase : k_before) {
      if (const std::size_t at = line.find(phrase); at != std::string::npos)
        requirement = first_word(line.substr(at + phrase.size()));
    }
    last.push_back(line);
    if (last.size() > 4)
      last.erase(last.begin());
  }
  const std::string words = last.empty() ? "pip printed nothing" : "pip's last words: " + join(last, " | ");
  return requirement.empty() ? "the requirements could not be installed; " + words : "the requirement '" + requirement + "' could not be installed; " + words;
}

std::map<std::string, std::string> installer_environment(const std::map<std::string, std::string>& ours, const std::string& job) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : ours) {
    const bool exact = std::find(k_passed.begin(), k_passed.end(), name) != k_passed.end();
    const bool proxy = std::find(k_passed_any_case.begin(), k_passed_any_case.end(), to_lower_ascii(name)) != k_passed_any_case.end();
    if (exact || proxy || name.starts_with("PIP_"))
      out[name] = value;
  }
  out["PYTHONUNBUFFERED"] = "1";
  out["PIP_NO_INPUT"] = "1";
  out[std::string(k_job_tag)] = job;
  return out;
}

} // namespace remotemac::daemon
