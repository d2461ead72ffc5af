#include "policies/glob.h"

#include "common/text.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utf8proc.h>

namespace remotemac::policies {
namespace {
// Does the set that begins at pattern[at] == '[' hold c? Moves `at` behind the set. create() has checked that it is closed.
bool in_set(std::string_view pattern, std::size_t& at, char c) {
  std::size_t i = at + 1;
  const bool negated = pattern[i] == '!';
  if (negated)
    ++i;
  bool found = false;
  for (bool first = true; first || pattern[i] != ']'; first = false) {
    if (pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found = found || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 3;
    } else {
      found = found || pattern[i] == c;
      ++i;
    }
  }
  at = i + 1;
  return found != negated;
}

// Unicode form C, in which "u" with a combining diaeresis and the one character for it are the same.
std::string composed(std::string_view text) {
  utf8proc_uint8_t* raw = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()), &raw, options);
  if (length < 0)
    return std::string(text);
  std::string out(reinterpret_cast<const char*>(raw), static_cast<std::size_t>(length));
  std::free(raw);
  return out;
}

std::size_t character_length(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xC0u) == 0x80u)
    ++length;
  return length;
}

// Iterative with one point to come back to: linear in practice, never exponential.
bool part_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    std::size_t next = p;
    bool fits = false;
    if (p < pattern.size() && pattern[p] == '?') {
      next = p + 1;
      fits = true;
    } else if (p < pattern.size() && pattern[p] == '[') {
      fits = in_set(pattern, next, text[t]);
    } else if (p < pattern.size()) {
      next = p + 1;
      fits = pattern[p] == text[t];
    }
    if (fits) {
      t += pattern[p] == '?' || pattern[p] == '[' ? character_length(text, t) : 1;
      p = next;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

bool parts_match(std::span<const std::string> pattern, std::span<const std::string> path, bool prefix_is_enough) {
  if (pattern.empty())
    return path.empty();
  if (path.empty() && prefix_is_enough)
    return true;
  if (pattern.front() == "**") {
    for (std::size_t skip = 0; skip <= path.size(); ++skip) {
      if (parts_match(pattern.subspan(1), path.subspan(skip), prefix_is_enough))
        return true;
    }
    return prefix_is_enough;
  }
  return !path.empty() && part_matches(pattern.front(), path.front()) && parts_match(pattern.subspan(1), path.subspan(1), prefix_is_enough);
}

bool sets_are_usable(std::string_view part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '[')
      continue;
    std::size_t end = i + 1;
    if (end < part.size() && part[end] == '!')
      ++end;
    end = part.find(']', end + 1); // a ']' in first place belongs to the set
    if (end == std::string_view::npos || part[i + 1] == ']' || part[end - 1] == '-')
      return false;
    // Sets compare bytes: one of a longer character would silently never match, and an exclusion would exclude nothing.
    const std::string_view set = part.substr(i, end - i);
    if (std::any_of(set.begin(), set.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
      return false;
    i = end;
  }
  return true;
}
} // namespace

Result<Glob> Glob::create(std::string_view pattern) {
  Glob out;
  out.m_text = pattern;
  const std::string shown = "the pattern '" + clean_line(pattern, 200) + "'";
  if (pattern.empty() || pattern.size() > 1024 || !is_valid_utf8(pattern) || clean_line(pattern) != pattern)
    return Error(ErrorCode::config, shown + " is not usable text", "write for example \"data/*.csv\" or \"src/**/*.py\"");
  if (pattern.front() == '/')
    return Error(ErrorCode::config, shown + " is absolute", "patterns are relative to the project folder: \"data/*.csv\"");
  std::string text(pattern);
  if (text.back() == '/')
    text += "**";
  out.m_parts = split(text, '/');
  std::size_t deep = 0;
  for (const std::string& part : out.m_parts) {
    if (part.empty() || part == "." || part == "..")
      return Error(ErrorCode::config, shown + " has an empty, '.' or '..' part", "patterns are relative to the project folder: \"data/*.csv\"");
    if (part != "**" && part.find("**") != std::string::npos)
      return Error(ErrorCode::config, shown + " uses ** inside a name", "** stands alone between slashes: \"src/**/*.py\"");
    if (!sets_are_usable(part))
      return Error(ErrorCode::config, shown + " has a [set] that is empty, does not end, or holds other characters than ASCII", "write for example \"[abc]\" or \"[!0-9]\", and ? for any one character");
    out.m_composed.push_back(composed(part));
    deep += part == "**" ? 1u : 0u;
  }
  if (deep > 4)
    return Error(ErrorCode::config, shown + " uses ** more than four times", "write several simpler patterns");
  return out;
}

bool Glob::matches(std::string_view path) const { return parts_match(m_parts, split(path, '/'), false); }

bool Glob::covers(std::string_view path) const {
  if (matches(path))
    return true;
  const std::vector<std::string> parts = split(composed(path), '/');
  if (parts_match(m_composed, parts, false))
    return true;
  if (m_composed.back().find_first_of("*?[") != std::string::npos)
    return false;
  for (std::size_t count = 1; count < parts.size(); ++count) {
    if (parts_match(m_composed, std::span(parts).first(count), false))
      return true;
  }
  return false;
}

bool Glob::may_match_below(std::string_view folder) const {
  const std::vector<std::string> parts = split(folder, '/');
  return parts.size() < m_parts.size() + (m_text.find("**") == std::string::npos ? 0 : 4096) && parts_match(m_parts, parts, true);
}

} // namespace remotemac::policies
