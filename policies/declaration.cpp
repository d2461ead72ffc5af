#include "policies/declaration.h"

namespace remotemac::policies {
namespace {
void need(std::vector<std::string>& out, bool there, const char* sentence) {
  if (!there)
    out.emplace_back(sentence);
}

void synthetic_proofs(const DataSet& set, std::vector<std::string>& out) {
  need(out, !set.generator.empty(), "generator = \"...\": the program that made the data");
  need(out, !set.generator_source.empty(), "source = \"none\" | \"public\" | \"personal\": what the generator learned from");
  need(out, set.seed.has_value(), "seed = ...: the number the generator was started with");
  if (set.generator_source == "personal")
    need(out, !set.risk_report.empty(), "risk_report = \"...\": where the disclosure risk scores are kept, since the generator learned from personal data");
  else
    need(out, !set.regeneration.empty(), "[data.regeneration_sha256]: \"path\" = \"sha256\" of what the generator makes again from this seed");
}

void anonymized_proofs(const DataSet& set, Moment now, std::vector<std::string>& out) {
  need(out, !set.method.empty(), "method = \"...\": how the data were anonymized");
  need(out, !set.assessor.empty(), "assessor = \"...\": who assessed the risk of re-identification (a role, not a name)");
  const auto assessed = begin_of(set.assessed);
  need(out, assessed.has_value(), "date = 2026-01-31: when that was assessed");
  if (assessed && *assessed > now)
    out.emplace_back("date lies in the future: the assessment has not been made");
  const auto until = end_of(set.reassess_by);
  need(out, until.has_value(), "reassess_by = 2027-01-31: until when the assessment holds");
  if (until && *until <= now)
    out.push_back("reassess_by has passed (" + set.reassess_by + "): the assessment must be made again");
  need(out, !set.quasi_identifiers.empty(), "quasi_identifiers = [\"age\", ...]: the columns by which people could be found together");
  need(out, set.k.has_value(), "k = 5: the smallest group that the quasi-identifiers leave; it is counted again in every table");
}

void released_proofs(const DataSet& set, std::vector<std::string>& out) {
  need(out, !set.license.empty(), "license = \"...\": the licence under which the data were published, as an SPDX name");
  need(out, !set.source.empty(), "source = \"...\": who published them and where");
  need(out, !set.version.empty(), "version = \"...\": the version or DOI");
  need(out, set.redistribution.has_value(), "redistribution = true: the licence allows passing copies on");
  if (set.redistribution && !*set.redistribution)
    out.emplace_back("redistribution = false: then no copy may be put on a rented machine");
}
} // namespace

std::string_view name_of(DataClass value) {
  switch (value) {
  case DataClass::code:
    return "code";
  case DataClass::synthetic:
    return "synthetic";
  case DataClass::anonymized:
    return "anonymized";
  case DataClass::released:
    return "released";
  case DataClass::pseudonymized:
    return "pseudonymized";
  case DataClass::personal:
    break;
  }
  return "personal";
}

const std::vector<std::string>& data_class_names() {
  static const std::vector<std::string> names{"code", "synthetic", "anonymized", "released", "pseudonymized", "personal"};
  return names;
}

std::optional<DataClass> data_class_from(std::string_view name) {
  for (const DataClass value : {DataClass::code, DataClass::synthetic, DataClass::anonymized, DataClass::released, DataClass::pseudonymized, DataClass::personal}) {
    if (name_of(value) == name)
      return value;
  }
  return std::nullopt;
}

std::vector<std::string> missing_proofs(const DataSet& set, Moment now) {
  std::vector<std::string> out;
  switch (set.data_class) {
  case DataClass::code:
    break;
  case DataClass::synthetic:
    synthetic_proofs(set, out);
    break;
  case DataClass::anonymized:
    anonymized_proofs(set, now, out);
    break;
  case DataClass::released:
    released_proofs(set, out);
    break;
  case DataClass::pseudonymized:
    out.emplace_back("pseudonymized data are personal data (GDPR Art. 4(5)): they never leave");
    break;
  case DataClass::personal:
    out.emplace_back("personal data never leave");
    break;
  }
  return out;
}

} // namespace remotemac::policies
