#include "cli/survey/requirement.h"

#include "cli/survey/packages.h"
#include "common/text.h"

#include <cctype>

namespace remotemac::survey {
namespace {
constexpr std::size_t k_max_requirement = 4096;

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.'; }

bool is_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0)
    return false;
  for (const char c : text.substr(0, colon))
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-' && c != '.')
      return false;
  return true;
}

// Before " ;" for URLs (a ';' may be part of one), before ';' otherwise.
std::string_view cut_marker(std::string_view& text, bool url) {
  const std::size_t at = url ? text.find(" ;") : text.find(';');
  if (at == std::string_view::npos)
    return {};
  const std::string_view marker = trim(text.substr(text.find(';', at) + 1));
  text = trim(text.substr(0, at));
  return marker;
}

// "torch-2.1.0+cu118-cp311-....whl" in a URL or path -> name and version
void name_from_wheel(SurveyRequirement& out, std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.ends_with(".whl"))
    return;
  const std::vector<std::string> parts = split(file, '-');
  if (parts.size() < 5)
    return;
  out.name = normalised_name(parts[0]);
  std::string version = parts[1];
  if (const std::size_t plus = version.find("%2B"); plus != std::string::npos)
    version.replace(plus, 3, "+");
  out.specifier = "==" + version;
}

void fill_origin(SurveyRequirement& out, std::string_view url) {
  if (const std::size_t egg = url.find("egg="); egg != std::string_view::npos && out.name.empty()) {
    std::string_view name = url.substr(egg + 4);
    name = name.substr(0, name.find_first_of("&[ "));
    out.name = normalised_name(name);
  }
  out.source = url.starts_with("git+") || url.ends_with(".git") ? "git" : url.starts_with("file:") ? "path" : "url";
  out.origin = url_without_secrets(url);
  if (out.name.empty())
    name_from_wheel(out, out.origin);
  if (!out.name.empty())
    return;
  if (out.source == "git") { // the name of the repository is the best guess there is
    std::string_view last = std::string_view(out.origin);
    last = last.substr(last.rfind('/') + 1);
    last = last.substr(0, last.find('@'));
    if (last.ends_with(".git"))
      last.remove_suffix(4);
    out.name = normalised_name(last);
  }
}

bool take_extras(SurveyRequirement& out, std::string_view& rest) {
  if (!rest.starts_with('['))
    return true;
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos)
    return false;
  for (const std::string& extra : split(rest.substr(1, end - 1), ','))
    if (!trim(extra).empty())
      out.extras.push_back(normalised_name(trim(extra)));
  rest = trim(rest.substr(end + 1));
  return true;
}

bool is_specifier(std::string_view text) {
  if (text.empty())
    return true;
  if (std::string_view("<>=!~").find(text.front()) == std::string_view::npos)
    return false;
  for (const char c : text)
    if (!is_name_char(c) && std::string_view("<>=!~,*+ ").find(c) == std::string_view::npos)
      return false;
  return true;
}

std::optional<SurveyRequirement> parse_named(std::string_view text) {
  SurveyRequirement out;
  std::size_t length = 0;
  while (length < text.size() && is_name_char(text[length]))
    ++length;
  if (length == 0 || std::isalnum(static_cast<unsigned char>(text.front())) == 0)
    return std::nullopt;
  out.name = normalised_name(text.substr(0, length));
  std::string_view rest = trim(text.substr(length));
  if (!take_extras(out, rest))
    return std::nullopt;
  if (rest.starts_with('@')) {
    std::string_view url = trim(rest.substr(1));
    out.marker = cut_marker(url, true);
    fill_origin(out, url);
    return out;
  }
  out.marker = cut_marker(rest, false);
  if (rest.starts_with('(') && rest.ends_with(')'))
    rest = trim(rest.substr(1, rest.size() - 2));
  if (!is_specifier(rest))
    return std::nullopt;
  for (const char c : rest)
    if (c != ' ')
      out.specifier += c;
  out.source = "index";
  return out;
}
} // namespace

std::string url_without_secrets(std::string_view url) {
  url = url.substr(0, url.find_first_of("#? \t"));
  const std::size_t begin = url.find("://");
  if (begin == std::string_view::npos)
    return clean_line(url, 512);
  const std::size_t host = begin + 3;
  const std::size_t slash = url.find('/', host);
  const std::size_t end = slash == std::string_view::npos ? url.size() : slash;
  const std::size_t at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < host)
    return clean_line(url, 512);
  return clean_line(std::string(url.substr(0, host)) + std::string(url.substr(at + 1)), 512);
}

std::optional<SurveyRequirement> parse_requirement(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.size() > k_max_requirement)
    return std::nullopt;
  std::optional<SurveyRequirement> out;
  if (is_url(text)) {
    out.emplace();
    out->marker = cut_marker(text, true);
    fill_origin(*out, text);
  } else if (text.starts_with("./") || text.starts_with("../") || text.starts_with('/') || text == "." || text.starts_with(".[") || text.ends_with(".whl")) {
    out.emplace();
    out->marker = cut_marker(text, true);
    out->source = "path";
    out->origin = text.starts_with('/') ? std::string("(absolute path)") : clean_line(text, 512);
    name_from_wheel(*out, text);
  } else {
    out = parse_named(text);
  }
  if (out) {
    out->marker = clean_line(out->marker, 512);
    out->skipped_on_mac = marker_on_mac(out->marker) == Marker::no;
  }
  return out;
}

} // namespace remotemac::survey
