#pragma once
// What a project says about its files: the classes and the proofs that each needs (design, section 4; docs/policy.md). Plain values.
#include "common/digest.h"
#include "policies/calendar.h"
#include "policies/glob.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac::policies {

// pseudonymized and personal exist to be refused by name.
enum class DataClass { code, synthetic, anonymized, released, pseudonymized, personal };

[[nodiscard]] std::string_view name_of(DataClass value);
[[nodiscard]] std::optional<DataClass> data_class_from(std::string_view name);
[[nodiscard]] const std::vector<std::string>& data_class_names();

struct DataSet {
  std::string name;
  DataClass data_class = DataClass::personal;
  std::vector<Glob> include;
  int line = 0; // in remotemac.toml

  // synthetic
  std::string generator;
  std::string generator_source; // none, public, personal
  std::optional<std::int64_t> seed;
  std::map<std::string, Digest> regeneration; // path -> what the generator makes again
  std::string risk_report;                    // where the risk scores of a generator that learned from personal data are kept
  // anonymized
  std::string method;
  std::string assessor;
  std::string assessed; // date
  std::string reassess_by;
  std::vector<std::string> quasi_identifiers;
  std::optional<std::int64_t> k;
  // released
  std::string license;
  std::string source;
  std::string version;
  std::optional<bool> redistribution;
};

// The fields that the class needs and the declaration lacks, each as a sentence with the field to write. Empty = complete.
// Dates are judged at `now`.
[[nodiscard]] std::vector<std::string> missing_proofs(const DataSet& set, Moment now);

} // namespace remotemac::policies
