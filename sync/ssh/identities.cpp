#include "sync/ssh/identities.h"

#include "common/text.h"

#include <algorithm>
#include <cstdlib>
#include <fnmatch.h>
#include <fstream>
#include <glob.h>
#include <pwd.h>
#include <unistd.h>

namespace remotemac::sync {
namespace {
constexpr int k_max_depth = 16;
constexpr std::size_t k_max_lines = 100'000;

std::string home_folder() {
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry != nullptr && entry->pw_dir != nullptr)
    return entry->pw_dir;
  const char* variable = std::getenv("HOME");
  return variable == nullptr ? "/" : variable;
}

std::string local_user() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? "" : entry->pw_name;
}

// Words of a line: blanks or one '=' between them, "quoted ones" whole, '#' starts a comment only at the beginning of the line.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  line = trim(line);
  if (line.starts_with('#'))
    return out;
  while (!line.empty()) {
    std::size_t end = 0;
    if (line.front() == '"') {
      end = std::min(line.find('"', 1), line.size());
      out.emplace_back(line.substr(1, end - 1));
      end = std::min(end + 1, line.size());
    } else {
      end = std::min(line.find_first_of(out.empty() ? " \t=" : " \t"), line.size());
      out.emplace_back(line.substr(0, end));
    }
    line.remove_prefix(end);
    line = trim(line);
    if (out.size() == 1 && line.starts_with('='))
      line = trim(line.substr(1));
  }
  return out;
}

// A pattern list: '*' and '?', '!' negates and wins.
template <typename Patterns> bool matches(const Patterns& patterns, const std::string& text) {
  bool found = false;
  for (std::string pattern : patterns) {
    const bool negated = pattern.starts_with('!');
    if (negated)
      pattern.erase(0, 1);
    if (::fnmatch(to_lower_ascii(pattern).c_str(), to_lower_ascii(text).c_str(), FNM_NOESCAPE) == 0) {
      if (negated)
        return false;
      found = true;
    }
  }
  return found;
}

class Reader {
public:
  Reader(const std::string& name_given, const SshTarget& target) : m_name(name_given), m_target(target), m_home(home_folder()) {}

  void read(const std::filesystem::path& file, int depth) {
    if (depth > k_max_depth)
      return;
    std::ifstream in(file);
    bool active = true;
    std::string line;
    while (m_lines++ < k_max_lines && std::getline(in, line))
      take(words_of(line), active, file, depth);
  }

  [[nodiscard]] Identities result() && {
    if (m_out.files.empty()) {
      for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"})
        m_out.files.emplace_back(m_home + "/.ssh/" + name);
    }
    return std::move(m_out);
  }

private:
  void take(const std::vector<std::string>& words, bool& active, const std::filesystem::path& file, int depth) {
    if (words.size() < 2)
      return;
    const std::string keyword = to_lower_ascii(words[0]);
    if (keyword == "host")
      active = matches(std::vector<std::string>(words.begin() + 1, words.end()), m_name);
    else if (keyword == "match")
      active = match_block(words);
    else if (active && keyword == "include")
      include(words, file, depth);
    else if (active && keyword == "identityfile" && to_lower_ascii(words[1]) != "none")
      add_file(expand(words[1]));
    else if (active && keyword == "identitiesonly" && !std::exchange(m_only_seen, true))
      m_out.only = to_lower_ascii(words[1]) == "yes" || to_lower_ascii(words[1]) == "true";
    else if (active && keyword == "identityagent" && m_out.agent.empty())
      m_out.agent = agent_path(words[1]);
  }

  [[nodiscard]] bool match_block(const std::vector<std::string>& words) const {
    bool all = true;
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string keyword = to_lower_ascii(words[i]);
      const bool negated = keyword.starts_with('!');
      if (negated)
        keyword.erase(0, 1);
      if (keyword == "all" || keyword == "final" || keyword == "canonical")
        continue;
      const std::vector<std::string> patterns = ++i < words.size() ? split(words[i], ',') : std::vector<std::string>();
      bool found = false;
      if (keyword == "host")
        found = matches(patterns, m_target.host);
      else if (keyword == "originalhost")
        found = matches(patterns, m_name);
      else if (keyword == "user")
        found = matches(patterns, m_target.user);
      else if (keyword == "localuser")
        found = matches(patterns, local_user());
      else
        return false; // exec, and what we do not know
      all = all && found != negated;
    }
    return all;
  }

  void include(const std::vector<std::string>& words, const std::filesystem::path& file, int depth) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string pattern = expand(words[i]);
      if (!pattern.starts_with('/'))
        pattern = (file == "/etc/ssh/ssh_config" ? std::string("/etc/ssh/") : m_home + "/.ssh/") + pattern;
      glob_t found{};
      if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
        for (std::size_t at = 0; at < found.gl_pathc; ++at)
          read(found.gl_pathv[at], depth + 1);
      }
      ::globfree(&found);
    }
  }

  void add_file(const std::string& path) {
    if (m_out.files.size() < 100 && std::find(m_out.files.begin(), m_out.files.end(), path) == m_out.files.end())
      m_out.files.emplace_back(path);
  }

  [[nodiscard]] std::string agent_path(const std::string& word) const {
    if (word == "SSH_AUTH_SOCK")
      return "";
    if (word.starts_with('$')) {
      const char* value = std::getenv(word.c_str() + 1);
      return value == nullptr ? "none" : value;
    }
    return expand(word);
  }

  [[nodiscard]] std::string expand(const std::string& text) const {
    std::string out;
    if (text.starts_with("~/"))
      out = m_home;
    for (std::size_t i = text.starts_with("~/") ? 1 : 0; i < text.size(); ++i) {
      if (text[i] != '%' || i + 1 == text.size()) {
        out += text[i];
        continue;
      }
      switch (text[++i]) {
      case 'd': out += m_home; break;
      case 'u': out += local_user(); break;
      case 'h': out += m_target.host; break;
      case 'n': out += m_name; break;
      case 'r': out += m_target.user; break;
      case '%': out += '%'; break;
      default: out += std::string("%") + text[i];
      }
    }
    return out;
  }

  const std::string& m_name;
  const SshTarget& m_target;
  const std::string m_home;
  Identities m_out;
  bool m_only_seen = false;
  std::size_t m_lines = 0;
};
} // namespace

Identities read_identities(const std::filesystem::path& config_file, const std::string& name_given, const SshTarget& target) {
  Reader reader(name_given, target);
  if (!config_file.empty()) {
    reader.read(config_file, 0);
  } else {
    reader.read(home_folder() + "/.ssh/config", 0);
    reader.read("/etc/ssh/ssh_config", 0);
  }
  return std::move(reader).result();
}

} // namespace remotemac::sync
