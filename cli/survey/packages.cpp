#include "cli/survey/packages.h"

#include "common/text.h"

#include <cctype>
#include <map>

namespace remotemac::survey {
namespace {
// "cupy-cuda12x" -> "cupy", "spconv-cu118" -> "spconv"; others unchanged.
std::string_view without_cuda_suffix(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0)
    return name;
  std::string_view tail = name.substr(dash + 1);
  if (tail.starts_with("cuda"))
    tail.remove_prefix(4);
  else if (tail.starts_with("cu"))
    tail.remove_prefix(2);
  else
    return name;
  if (tail.ends_with('x'))
    tail.remove_suffix(1);
  for (const char c : tail)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      return name;
  return tail.empty() ? name : name.substr(0, dash);
}

bool fits_extra(const KnownPackage& package, const SurveyRequirement& requirement) {
  if (package.only_extra.empty())
    return true;
  for (const std::string& extra : requirement.extras)
    if (extra.find(package.only_extra) != std::string::npos)
      return true;
  return false;
}

// Exact names when `prefixes` is false, else the entries that end in '*'.
const KnownPackage* find_name(std::string_view name, const SurveyRequirement& requirement, bool prefixes) {
  for (const KnownPackage& package : known_packages())
    for (const std::string& known : split(package.names, ' ')) {
      const bool prefix = known.ends_with('*');
      const bool same = prefix ? name.starts_with(std::string_view(known).substr(0, known.size() - 1)) : known == name;
      if (prefix == prefixes && same && fits_extra(package, requirement))
        return &package;
    }
  return nullptr;
}

const std::map<std::string, const KnownPackage*, std::less<>>& by_module() {
  static const auto k_index = [] {
    std::map<std::string, const KnownPackage*, std::less<>> out;
    for (const KnownPackage& package : known_packages())
      for (const std::string& module : split(package.modules, ' '))
        if (!module.empty())
          out.emplace(module, &package);
    return out;
  }();
  return k_index;
}
} // namespace

std::string normalised_name(std::string_view name) {
  std::string out;
  for (const char c : to_lower_ascii(name)) {
    const bool dash = c == '-' || c == '_' || c == '.';
    if (!dash)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  return out;
}

const KnownPackage* known_by_name(const SurveyRequirement& requirement) {
  if (requirement.name.empty())
    return nullptr;
  // The name as it is, then without its CUDA version, then families such as nvidia-*.
  const std::string_view plain = without_cuda_suffix(requirement.name);
  for (const bool prefixes : {false, true})
    for (const std::string_view name : {std::string_view(requirement.name), plain})
      if (const KnownPackage* found = find_name(name, requirement, prefixes))
        return found;
  return nullptr;
}

const KnownPackage* known_by_module(std::string_view dotted) {
  while (!dotted.empty()) { // a.b.c, then a.b, then a
    if (const auto found = by_module().find(dotted); found != by_module().end())
      return found->second;
    const std::size_t dot = dotted.rfind('.');
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(0, dot);
  }
  return nullptr;
}

std::string shown_name(const KnownPackage& package) { return split(package.names, ' ').front(); }

} // namespace remotemac::survey
