#include "policies/rule_file.h"

#include <gtest/gtest.h>

namespace remotemac::policies {
namespace {
const Moment k_now = Moment(std::chrono::sys_days(std::chrono::year(2026) / 12 / 1));

Result<ProjectPolicy> parse(const std::string& text) { return parse_project_policy(text, "remotemac.toml"); }

std::string error_of(const std::string& text) {
  const Result<ProjectPolicy> policy = parse(text);
  return policy ? "no error" : policy.error().message();
}

TEST(RuleFile, ReadsEveryTable) {
  const Result<ProjectPolicy> policy = parse("[[data]]\nname = \"source\"\nclass = \"code\"\ninclude = [\"*.py\", \"src/**\"]\n"
                                             "[[exclude]]\npaths = [\"src/secret/\"]\nreason = \"stays\"\n"
                                             "[[rule]]\nid = \"eu\"\neffect = \"require\"\nclasses = [\"released\"]\nonly_regions = [\"eu\"]\n"
                                             "[[rule]]\nid = \"small\"\neffect = \"forbid\"\nlarger_than = \"1MB\"\n");
  ASSERT_TRUE(policy) << policy.error().chain();
  EXPECT_EQ(policy->data.size(), 1u);
  EXPECT_EQ(policy->data[0].line, 1);
  EXPECT_TRUE(policy->data[0].include[1].matches("src/a/b.py"));
  EXPECT_TRUE(policy->excludes[0].paths[0].matches("src/secret/deep/file"));
  EXPECT_EQ(policy->rules[0].effect, Effect::require);
  EXPECT_EQ(policy->rules[1].larger_than, 1'000'000u);
}

TEST(RuleFile, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(error_of("[[data]]\nname = \"a\"\nclass = \"kode\"\ninclude = [\"*\"]\n"), "remotemac.toml:3:9: 'class' in [[data]] must be one of code, synthetic, anonymized, released, pseudonymized, personal, not 'kode'");
  EXPECT_EQ(error_of("[[data]]\nname = \"a\"\nclass = \"code\"\ninclude = [\"/etc/*\"]\n").substr(0, 19), "remotemac.toml:4:11");
  EXPECT_NE(error_of("[data]\nname = \"a\"\n").find("must be a list of tables"), std::string::npos);
  EXPECT_NE(error_of("[[data]]\nname = \"a\"\nclass = \"code\"\ninclud = [\"*\"]\n").find("remotemac.toml"), std::string::npos);
  EXPECT_NE(error_of("[[rule]]\nid = \"x\"\neffect = \"allow\"\n").find("forbid, require"), std::string::npos);
  EXPECT_NE(error_of("[[rule]]\nid = \"x\"\neffect = \"require\"\n").find("requires nothing"), std::string::npos);
  EXPECT_NE(error_of("[[data]]\nname = \"a\"\nclass = \"code\"\ninclude = [\"*\"]\n[[data]]\nname = \"a\"\nclass = \"code\"\ninclude = [\"b\"]\n").find("two [[data]]"), std::string::npos);
  EXPECT_NE(error_of("[[data]\n").find("remotemac.toml:1:"), std::string::npos);
}

DataSet complete(DataClass data_class) {
  DataSet set;
  set.name = "d";
  set.data_class = data_class;
  set.generator = "make.py";
  set.generator_source = "none";
  set.seed = 7;
  set.regeneration["a.csv"] = Digest{};
  set.method = "generalised";
  set.assessor = "data protection officer";
  set.assessed = "2026-01-31";
  set.reassess_by = "2027-01-31";
  set.quasi_identifiers = {"age"};
  set.k = 5;
  set.license = "CC-BY-4.0";
  set.source = "UCI";
  set.version = "1";
  set.redistribution = true;
  return set;
}

TEST(Declaration, ACompleteOneLacksNothing) {
  for (const DataClass data_class : {DataClass::code, DataClass::synthetic, DataClass::anonymized, DataClass::released})
    EXPECT_TRUE(missing_proofs(complete(data_class), k_now).empty()) << name_of(data_class);
}

TEST(Declaration, PersonalAndPseudonymizedNeverPass) {
  EXPECT_FALSE(missing_proofs(complete(DataClass::personal), k_now).empty());
  EXPECT_FALSE(missing_proofs(complete(DataClass::pseudonymized), k_now).empty());
}

struct Lack {
  DataClass data_class;
  void (*remove)(DataSet&);
  const char* field;
};

TEST(Declaration, EachMissingProofIsNamedWithItsField) {
  const Lack lacks[] = {
      {DataClass::synthetic, [](DataSet& set) { set.generator.clear(); }, "generator"},
      {DataClass::synthetic, [](DataSet& set) { set.generator_source.clear(); }, "source"},
      {DataClass::synthetic, [](DataSet& set) { set.seed.reset(); }, "seed"},
      {DataClass::synthetic, [](DataSet& set) { set.regeneration.clear(); }, "regeneration_sha256"},
      {DataClass::synthetic, [](DataSet& set) { set.generator_source = "personal"; }, "risk_report"},
      {DataClass::anonymized, [](DataSet& set) { set.method.clear(); }, "method"},
      {DataClass::anonymized, [](DataSet& set) { set.assessor.clear(); }, "assessor"},
      {DataClass::anonymized, [](DataSet& set) { set.assessed = "soon"; }, "date"},
      {DataClass::anonymized, [](DataSet& set) { set.assessed = "2027-01-01"; }, "future"},
      {DataClass::anonymized, [](DataSet& set) { set.reassess_by = "2026-11-30"; }, "has passed"},
      {DataClass::anonymized, [](DataSet& set) { set.quasi_identifiers.clear(); }, "quasi_identifiers"},
      {DataClass::anonymized, [](DataSet& set) { set.k.reset(); }, "k = "},
      {DataClass::released, [](DataSet& set) { set.license.clear(); }, "license"},
      {DataClass::released, [](DataSet& set) { set.source.clear(); }, "source"},
      {DataClass::released, [](DataSet& set) { set.version.clear(); }, "version"},
      {DataClass::released, [](DataSet& set) { set.redistribution.reset(); }, "redistribution"},
      {DataClass::released, [](DataSet& set) { set.redistribution = false; }, "redistribution"},
  };
  for (const Lack& lack : lacks) {
    DataSet set = complete(lack.data_class);
    lack.remove(set);
    const std::vector<std::string> missing = missing_proofs(set, k_now);
    ASSERT_EQ(missing.size(), 1u) << lack.field;
    EXPECT_NE(missing.front().find(lack.field), std::string::npos) << missing.front();
  }
}
} // namespace
} // namespace remotemac::policies
