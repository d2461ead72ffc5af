#include "common/evidence_json.h"

#include "common/text.h"

#include <algorithm>
#include <limits>

namespace remotemac::evidence_json {
namespace {

bool ends_word(char c) {
  return std::string_view(" \t\"'`()<>[]{},;|:").find(c) != std::string_view::npos;
}
// An absolute path starts a word; "a/b" and "http://host/x" do not hold one.
bool may_begin_path(std::string_view text, std::size_t at) {
  if (at == 0)
    return true;
  const char before = text[at - 1];
  return std::string_view(" \t\"'`()<>[]{},;|=@?").find(before) != std::string_view::npos ||
         (before == ':' && text.substr(at, 2) != "//") || (before == '~' && (at == 1 || ends_word(text[at - 2])));
}

std::string_view last_part(std::string_view path) {
  while (!path.empty() && (path.back() == '/' || path.back() == '\\'))
    path.remove_suffix(1);
  const std::size_t at = path.find_last_of("/\\");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

bool drive_at(std::string_view text, std::size_t at) {
  const auto letter = static_cast<unsigned char>(text[at]);
  const bool is_letter = (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
  return is_letter && at + 2 < text.size() && text[at + 1] == ':' && text[at + 2] == '\\' && (at == 0 || ends_word(text[at - 1]));
}

std::string shorten_paths(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool file_url = text.substr(at, 8) == "file:///";
    const bool drive = drive_at(text, at);
    const bool unix_path =
        text[at] == '/' && at + 1 < text.size() && text[at + 1] != '/' && !ends_word(text[at + 1]) && may_begin_path(text, at);
    if (!file_url && !drive && !unix_path) {
      out += text[at++];
      continue;
    }
    std::size_t end = at + (file_url ? 8 : drive ? 3 : 1);
    while (end < text.size() && !ends_word(text[end]))
      ++end;
    const std::string_view whole = text.substr(at, end - at);
    if (unix_path && !out.empty() && out.back() == '~')
      out.pop_back();
    out += ".../";
    out += last_part(whole);
    at = end;
  }
  return out;
}

} // namespace

std::string safe_text(std::string_view value, std::size_t max_bytes) {
  // Cut first: a text of many megabytes is not worth a walk.
  return clean_line(shorten_paths(clean_line(value.substr(0, 4 * max_bytes), 2 * max_bytes)), max_bytes);
}

std::string safe_path(std::string_view value) {
  const std::string cleaned = clean_line(value.substr(0, 4096), 1024);
  bool leaves = cleaned.starts_with('/') || cleaned.starts_with('~') || cleaned.find('\\') != std::string::npos ||
                cleaned.find("://") != std::string::npos;
  for (const std::string& part : split(cleaned, '/'))
    leaves = leaves || part == "..";
  if (!leaves)
    return shorten_paths(cleaned); // an absolute one may hide behind characters that were cleaned away
  const std::string_view last = last_part(cleaned);
  return last.empty() || last == ".." || last == "~" ? std::string("...") : ".../" + std::string(last);
}

std::string text(const json& object, std::string_view key, std::size_t max_bytes) {
  const json& value = json_at(object, key);
  return value.is_string() ? safe_text(value.get_ref<const std::string&>(), max_bytes) : std::string();
}
std::string name(const json& object, std::string_view key) {
  return text(object, key, k_max_name);
}
std::string path(const json& object, std::string_view key) {
  const json& value = json_at(object, key);
  return value.is_string() ? safe_path(value.get_ref<const std::string&>()) : std::string();
}

std::optional<std::uint64_t> maybe_count(const json& object, std::string_view key) {
  const json& value = json_at(object, key);
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>();
  if (value.is_number_integer() && value.get<std::int64_t>() >= 0)
    return static_cast<std::uint64_t>(value.get<std::int64_t>());
  return std::nullopt;
}
std::uint64_t count(const json& object, std::string_view key) {
  return maybe_count(object, key).value_or(0);
}

std::optional<std::int64_t> maybe_int64(const json& object, std::string_view key) {
  const json& value = json_at(object, key);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)))
    return std::nullopt;
  return value.get<std::int64_t>();
}
std::optional<int> maybe_int(const json& object, std::string_view key) {
  const std::optional<std::int64_t> value = maybe_int64(object, key);
  if (!value || *value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max())
    return std::nullopt;
  return static_cast<int>(*value);
}
int line_number(const json& object, std::string_view key) {
  return std::max(0, maybe_int(object, key).value_or(0));
}

std::optional<double> maybe_number(const json& object, std::string_view key) {
  const json& value = json_at(object, key);
  if (!value.is_number())
    return std::nullopt;
  const auto read = value.get<double>();
  return std::isfinite(read) ? std::optional(read) : std::nullopt;
}
double seconds(const json& object, std::string_view key) {
  return std::max(0.0, maybe_number(object, key).value_or(0));
}

std::optional<bool> maybe_flag(const json& object, std::string_view key) {
  const json& value = json_at(object, key);
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

namespace {
template <typename T, typename Take> std::vector<T> each_of(const json& values, Take take) {
  std::vector<T> out;
  if (!values.is_array())
    return out;
  for (const json& each : values) {
    if (out.size() >= k_max_entries)
      break;
    take(each, out);
  }
  return out;
}
} // namespace

std::vector<std::string> texts(const json& object, std::string_view key, std::size_t max_bytes) {
  return each_of<std::string>(json_at(object, key), [max_bytes](const json& each, std::vector<std::string>& out) {
    if (each.is_string())
      out.push_back(safe_text(each.get_ref<const std::string&>(), max_bytes));
  });
}
std::vector<std::string> paths(const json& object, std::string_view key) {
  return each_of<std::string>(json_at(object, key), [](const json& each, std::vector<std::string>& out) {
    if (each.is_string())
      out.push_back(safe_path(each.get_ref<const std::string&>()));
  });
}
std::vector<std::int64_t> integers(const json& object, std::string_view key) {
  return each_of<std::int64_t>(json_at(object, key), [](const json& each, std::vector<std::int64_t>& out) {
    const json wrapped{{"v", each}};
    if (const auto value = maybe_int64(wrapped, "v"))
      out.push_back(*value);
  });
}

std::map<std::string, std::string> text_map(const json& object, std::string_view key) {
  std::map<std::string, std::string> out;
  const json& values = json_at(object, key);
  for (auto it = values.begin(); values.is_object() && it != values.end() && out.size() < k_max_entries; ++it) {
    if (it->is_string())
      out.emplace(safe_text(it.key(), k_max_name), safe_text(it->get_ref<const std::string&>()));
  }
  return out;
}
std::map<std::string, std::uint64_t> count_map(const json& object, std::string_view key) {
  std::map<std::string, std::uint64_t> out;
  const json& values = json_at(object, key);
  for (auto it = values.begin(); values.is_object() && it != values.end() && out.size() < k_max_entries; ++it) {
    if (const auto value = maybe_count(values, it.key()))
      out.emplace(safe_text(it.key(), k_max_name), *value);
  }
  return out;
}

} // namespace remotemac::evidence_json
