// The decision: classes, proofs, findings, project rules, host conditions.
#include "tests/unit/policies/gate_fixture.h"

#include <set>

namespace remotemac::policies {
namespace {
const std::string k_released = "[[data]]\nname = \"d\"\nclass = \"released\"\ninclude = [\"data/**\"]\nlicense = \"CC0-1.0\"\nsource = \"s\"\nversion = \"1\"\nredistribution = true\n";

std::string synthetic(const std::string& regeneration) {
  return "[[data]]\nname = \"d\"\nclass = \"synthetic\"\ninclude = [\"data/**\"]\ngenerator = \"make.py\"\nsource = \"none\"\nseed = 7\n[data.regeneration_sha256]\n" + regeneration;
}

std::string anonymized(int k) {
  return "[[data]]\nname = \"d\"\nclass = \"anonymized\"\ninclude = [\"data/**\"]\nmethod = \"generalised\"\nassessor = \"dpo\"\ndate = 2026-01-31\nreassess_by = 2027-01-31\nquasi_identifiers = [\"age\", \"zip\"]\nk = " + std::to_string(k) + "\n";
}

TEST(GateRules, CodeBearsAnAddressButNoKey) {
  Project project;
  project.write("a.py", "# by erika@uni-musterstadt.de\n");
  const Judgement noted = project.judge(k_code);
  EXPECT_EQ(said(noted, "a.py"), "approved builtin.declared");
  EXPECT_EQ(decision(noted, "a.py")->reason, "noted: 1 e-mail address (line 1)");
  project.write("b.py", "KEY = '''-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END RSA PRIVATE KEY-----'''\n");
  EXPECT_EQ(said(project.judge(k_code), "b.py"), "refused builtin.finding");
}

TEST(GateRules, DataBearNoAddress) {
  Project project;
  project.write("data/a.csv", "name\nerika@uni-musterstadt.de\n");
  const Judgement judgement = project.judge(k_released);
  EXPECT_EQ(said(judgement, "data/a.csv"), "refused builtin.finding");
  EXPECT_EQ(decision(judgement, "data/a.csv")->reason.find("musterstadt"), std::string::npos) << "a reason must not show what was matched";
}

TEST(GateRules, MissingProofsRefuseAndNameThePlace) {
  Project project;
  project.write("data/a.csv", "x\n1\n");
  const Judgement judgement = project.judge("\n[[data]]\nname = \"d\"\nclass = \"released\"\ninclude = [\"data/**\"]\nlicense = \"CC0-1.0\"\n");
  EXPECT_EQ(said(judgement, "data/a.csv"), "refused builtin.proof");
  EXPECT_EQ(decision(judgement, "data/a.csv")->place, "remotemac.toml:2");
  EXPECT_NE(decision(judgement, "data/a.csv")->reason.find("redistribution"), std::string::npos);
}

TEST(GateRules, PersonalDataAreRefusedByName) {
  Project project;
  project.write("data/a.csv", "x\n1\n");
  for (const char* name : {"personal", "pseudonymized"})
    EXPECT_EQ(said(project.judge("[[data]]\nname = \"d\"\nclass = \"" + std::string(name) + "\"\ninclude = [\"data/**\"]\n"), "data/a.csv"), "refused builtin.class") << name;
}

TEST(GateRules, SyntheticFilesMustBeWhatTheGeneratorMakes) {
  Project project;
  project.write("data/a.csv", "x\n1\n");
  EXPECT_EQ(said(project.judge(synthetic("\"data/a.csv\" = \"" + sha256("x\n1\n").hex() + "\"\n")), "data/a.csv"), "approved builtin.declared");
  EXPECT_EQ(said(project.judge(synthetic("\"data/a.csv\" = \"" + sha256("x\n2\n").hex() + "\"\n")), "data/a.csv"), "refused builtin.regeneration");
  EXPECT_EQ(said(project.judge(synthetic("\"data/b.csv\" = \"" + sha256("x\n1\n").hex() + "\"\n")), "data/a.csv"), "refused builtin.regeneration");
}

TEST(GateRules, DeclaredKIsCountedAgain) {
  Project project;
  project.write("data/a.csv", "age,zip,y\n30,1,5\n30,1,6\n40,2,7\n40,2,8\n");
  EXPECT_EQ(said(project.judge(anonymized(2)), "data/a.csv"), "approved builtin.declared");
  const Judgement refused = project.judge(anonymized(3));
  EXPECT_EQ(said(refused, "data/a.csv"), "refused builtin.k-anonymity");
  EXPECT_NE(decision(refused, "data/a.csv")->reason.find("has 2 of 4 rows"), std::string::npos) << decision(refused, "data/a.csv")->reason;
  project.write("data/b.txt", "free text");
  EXPECT_EQ(said(project.judge(anonymized(2)), "data/b.txt"), "refused builtin.k-anonymity");
}

TEST(GateRules, AnonymizedDataNeedAContract) {
  Project project;
  project.write("data/a.csv", "age,zip,y\n30,1,5\n30,1,6\n");
  project.host.contract_id.clear();
  EXPECT_EQ(said(project.judge(anonymized(2)), "data/a.csv"), "refused builtin.contract");
  project.host.is_local = true;
  EXPECT_EQ(said(project.judge(anonymized(2)), "data/a.csv"), "approved builtin.declared");
}

TEST(GateRules, NothingGoesToAHostWhoseContractOrLeaseEnded) {
  Project project;
  project.write("a.py", "x");
  project.host.contract_until = "2026-11-30";
  EXPECT_EQ(said(project.judge(k_code), "a.py"), "refused builtin.contract");
  project.host.contract_until = "2026-12-01"; // its last day is today
  EXPECT_EQ(said(project.judge(k_code), "a.py"), "approved builtin.declared");
  project.host.lease_end = "2026-11-30T23:59:59Z";
  EXPECT_EQ(said(project.judge(k_code), "a.py"), "refused builtin.lease");
  project.host.lease_end = "some day";
  EXPECT_EQ(said(project.judge(k_code), "a.py"), "refused builtin.lease");
}

TEST(GateRules, AFileThatTwoDataSetsClaimIsRefused) {
  Project project;
  project.write("data/a.csv", "x\n1\n");
  EXPECT_EQ(said(project.judge(k_code + k_released), "data/a.csv"), "refused builtin.ambiguous");
}

TEST(GateRules, ExcludesKeepFilesHere) {
  Project project;
  project.write("a.py", "x");
  project.write("data/id", "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n");
  const Judgement judgement = project.judge(k_code + "[[exclude]]\npaths = [\"data/**\"]\nreason = \"keys\"\n");
  EXPECT_EQ(said(judgement, "data/id"), "excluded exclude");
  EXPECT_EQ(judgement.totals.refused, 0u);
  EXPECT_EQ(judgement.approved.manifest().files.size(), 1u);
}

TEST(GateRules, ProjectRulesForbid) {
  Project project;
  project.write("a.py", "x");
  project.write("b.txt", std::string(2000, 'x'));
  const Judgement judgement = project.judge(k_code + "[[rule]]\nid = \"small\"\neffect = \"forbid\"\nlarger_than = 1000\nreason = \"too much\"\n");
  EXPECT_EQ(said(judgement, "b.txt"), "refused small");
  EXPECT_EQ(decision(judgement, "b.txt")->layer, "project");
  EXPECT_EQ(decision(judgement, "b.txt")->place, "remotemac.toml:5");
  EXPECT_EQ(said(judgement, "a.py"), "approved builtin.declared");
  EXPECT_EQ(said(project.judge(k_code + "[[rule]]\nid = \"r\"\neffect = \"forbid\"\nhosts = [\"mini2\"]\n"), "a.py"), "approved builtin.declared");
  EXPECT_EQ(said(project.judge(k_code + "[[rule]]\nid = \"r\"\neffect = \"forbid\"\nkinds = [\"text\"]\n"), "a.py"), "refused r");
}

TEST(GateRules, ProjectRulesRequire) {
  Project project;
  project.write("a.py", "x");
  const std::string rule = k_code + "[[rule]]\nid = \"eu\"\neffect = \"require\"\nonly_regions = [\"eu\"]\n";
  EXPECT_EQ(said(project.judge(rule), "a.py"), "approved builtin.declared");
  project.host.region = "us";
  EXPECT_EQ(said(project.judge(rule), "a.py"), "refused eu");
  project.host.region.clear();
  EXPECT_EQ(said(project.judge(rule), "a.py"), "refused eu") << "what is not recorded does not hold";
}

TEST(GateRules, TablesAndArraysAreNoCode) {
  Project project;
  project.write("patients.csv", "Vorname,x\nA,1\n");
  EXPECT_EQ(said(project.judge(k_code), "patients.csv"), "refused builtin.data-as-code");
}

TEST(GateRules, NotebooksWithOutputsAreNoCode) {
  Project project;
  project.write("n.ipynb", R"({"cells": [{"cell_type": "code", "outputs": [{"text": ["1"]}]}], "nbformat": 4})");
  EXPECT_EQ(said(project.judge(k_code), "n.ipynb"), "refused builtin.notebook-output");
  project.write("n.ipynb", R"({"cells": [{"cell_type": "code", "outputs": []}], "nbformat": 4})");
  EXPECT_EQ(said(project.judge(k_code), "n.ipynb"), "approved builtin.declared");
}

TEST(GateRules, EveryRuleThatDecidesIsInTheTable) {
  std::set<std::string_view> known;
  for (const BuiltInRule& rule : built_in_rules()) {
    EXPECT_TRUE(known.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.meaning.empty());
  }
  Project project;
  project.write("a.py", "x");
  project.write("b.pdf", "%PDF-1.7\n");
  project.write("c.json", "{");
  for (const FileDecision& each : project.judge(k_code).decisions)
    EXPECT_TRUE(known.contains(each.rule)) << each.rule;
}

TEST(GateText, CommandsAndEnvironmentAreJudged) {
  EXPECT_TRUE(judge_text("the command", "train.py\n--epochs\n3\n").allowed);
  const TextVerdict verdict = judge_text("the environment", "MAIL=erika@uni-musterstadt.de\n");
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.reason, "1 e-mail address (the environment)");
}
} // namespace
} // namespace remotemac::policies
