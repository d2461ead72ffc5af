#include "cli/host_facts.h"

#include <gtest/gtest.h>

namespace remotemac::cli {
namespace {

HostRecord recorded() {
  HostRecord host;
  host.name = "mini1";
  host.region = "eu";
  host.operator_name = "Mac Rental GmbH";
  host.operator_country = "DE";
  host.contract_id = "C-17";
  host.contract_until = "2027-01-31";
  host.lease_end = "2026-12-31";
  host.python = "/opt/homebrew/bin/python3";
  host.packages_from = "/opt/torch/bin/python3";
  return host;
}

HostRecord fresh() {
  HostRecord host;
  host.name = "mini1";
  return host;
}

TEST(HostFacts, WhatIsNotGivenStaysAsRecorded) {
  HostRecord host = fresh();
  host.lease_end = "2027-06-30";
  const GivenFacts given{"lease-end"};
  keep_facts(host, recorded(), given);
  EXPECT_EQ(host.lease_end, "2027-06-30");
  EXPECT_EQ(host.region, "eu");
  EXPECT_EQ(host.operator_name, "Mac Rental GmbH");
  EXPECT_EQ(host.operator_country, "DE");
  EXPECT_EQ(host.contract_id, "C-17");
  EXPECT_EQ(host.contract_until, "2027-01-31");
  EXPECT_EQ(host.python, "/opt/homebrew/bin/python3");
  EXPECT_EQ(host.packages_from, "/opt/torch/bin/python3");
  EXPECT_EQ(kept_facts(host, recorded(), given), (std::vector<std::string>{"region", "operator", "operator-country", "contract-id", "contract-until", "python", "packages-from"}));
}

TEST(HostFacts, AnEmptyValueClears) {
  HostRecord host = fresh();
  const GivenFacts given{"region", "python"};
  keep_facts(host, recorded(), given);
  EXPECT_EQ(host.region, "");
  EXPECT_EQ(host.python, "");
  EXPECT_EQ(kept_facts(host, recorded(), given).size(), 6u);
}

TEST(HostFacts, QuestionsOfferWhatIsRecorded) {
  HostRecord host = fresh();
  const GivenFacts given{"operator"};
  keep_facts(host, recorded(), given);
  std::vector<std::string> asked;
  const auto done = ask_facts(host, given, [&](const std::string& question, const std::string& flag) -> Result<std::string> {
    asked.push_back(question);
    return std::string(flag == "--contract-id" ? "C-18" : flag == "--operator-country" ? "-" : "");
  });
  ASSERT_TRUE(done);
  ASSERT_EQ(asked.size(), 5u) << "the operator was given, interpreters are not asked for";
  EXPECT_NE(asked[0].find("empty = eu"), std::string::npos) << asked[0];
  EXPECT_EQ(host.region, "eu");
  EXPECT_EQ(host.contract_id, "C-18");
  EXPECT_EQ(host.operator_country, "");
  EXPECT_EQ(host.lease_end, "2026-12-31");
}

TEST(HostFacts, ADateThatIsNoneIsAskedAgainOrRefused) {
  HostRecord host = fresh();
  int asked = 0;
  const auto done = ask_facts(host, {}, [&](const std::string& question, const std::string& flag) -> Result<std::string> {
    if (flag != "--lease-end")
      return std::string();
    if (++asked == 1)
      return std::string("31.12.2026");
    EXPECT_NE(question.find("'31.12.2026' is not a date"), std::string::npos);
    return std::string("2026-12-31");
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(host.lease_end, "2026-12-31");
  EXPECT_TRUE(check_facts(host));
  host.contract_until = "2026-13-40";
  const auto checked = check_facts(host);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::usage);
  EXPECT_NE(checked.error().hint().find("--contract-until"), std::string::npos);
}

TEST(HostFacts, NoAnswerEndsTheQuestions) {
  HostRecord host = fresh();
  const auto done = ask_facts(host, {}, [](const std::string&, const std::string&) -> Result<std::string> { return Error(ErrorCode::interrupted, "no answer was given"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::interrupted);
}

} // namespace
} // namespace remotemac::cli
