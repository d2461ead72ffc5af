#pragma once
// What is known about Python packages that need CUDA, or seem to: one table, and looking names up in it. Pure; any thread.
#include "common/survey.h"

#include <span>
#include <string>
#include <string_view>

namespace remotemac::survey {

struct KnownPackage {
  std::string_view names;   // normalised distribution names, separated by spaces; the first is the one shown. "x-*" = any name that begins with "x-"
  std::string_view modules; // dotted module names that importing it looks like, separated by spaces
  PackageClass package_class;
  Effort effort;
  std::string_view why;
  std::string_view alternative;
  std::string_view source; // public evidence owner/repo#number, "" = common knowledge
  std::string_view only_extra = ""; // the entry is about this extra only (text that the extra contains)
};

[[nodiscard]] std::span<const KnownPackage> known_packages();
// PEP 503: lower case, runs of - _ . become one -.
[[nodiscard]] std::string normalised_name(std::string_view name);
// nullptr when the table does not have it. Suffixes for a CUDA version (-cu12, -cuda12x) are ignored.
[[nodiscard]] const KnownPackage* known_by_name(const SurveyRequirement& requirement);
// The entry whose module `dotted` is or lies in; the longest module wins.
[[nodiscard]] const KnownPackage* known_by_module(std::string_view dotted);
[[nodiscard]] std::string shown_name(const KnownPackage& package);

} // namespace remotemac::survey
