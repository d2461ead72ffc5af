#include "cli/report/report.h"
#include "report_case.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace remotemac::report {
namespace {
using namespace testing;
using nlohmann::json;

json json_of(const Case& shown) {
  return to_json(shown.evidence, shown.verdict);
}

TEST(JsonReport, HasAFormatAVersionTheVerdictAndTheEvidence) {
  const json report = json_of(digits_case());
  EXPECT_EQ(report["format"], "remotemac-report");
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["run"], "r1");
  EXPECT_EQ(report["simulated"], true);
  EXPECT_EQ(report["verdict"]["reached"], true);
  EXPECT_EQ(report["verdict"]["class"], "development-and-test");
  ASSERT_EQ(report["verdict"]["criteria"].size(), 12u);
  for (const json& criterion : report["verdict"]["criteria"])
    EXPECT_FALSE(criterion["lines"].empty()) << criterion["id"];
  EXPECT_EQ(report["verdict"]["reasons"][0]["cause"], "simulated");
}

TEST(JsonReport, ItsEvidenceCanBeReadAndJudgedAgain) {
  const Case shown = float64_case();
  const Result<Evidence> again = evidence_from_json(json_of(shown)["evidence"]);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(verdict::judge(*again).classification, shown.verdict.classification);
}

TEST(JsonReport, ReproduceLinesSurviveTheWayThroughTheEvidence) {
  const Case shown = digits_case();
  const Result<Evidence> again = evidence_from_json(json_of(shown)["evidence"]);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->battery->findings.back().reproduce, shown.evidence.battery->findings.back().reproduce);
}

TEST(JsonReport, WithoutAVerdictThereIsNoClass) {
  const json report = json_of(broken_off_case());
  EXPECT_EQ(report["verdict"]["reached"], false);
  EXPECT_TRUE(report["verdict"]["class"].is_null());
  EXPECT_EQ(report["evidence"]["broke_off"]["stage"], "sync");
  const std::string text = report["verdict"].dump();
  for (const char* name : {"cuda-required", "development-and-test", "\"suitable\""})
    EXPECT_EQ(text.find(name), std::string::npos) << name;
}

TEST(JsonReport, CanAlwaysBeWritten) {
  for (const char* text : {"\xFF\xFE", "a\x1b[2Jb", "\xE2\x80\xAE", "\xED\xA0\x80"}) {
    const std::string written = json_of(hostile_case(text)).dump(2); // throws on broken UTF-8
    EXPECT_EQ(written.find("\x1b"), std::string::npos);
    EXPECT_EQ(written.find("\\u001b"), std::string::npos);
    EXPECT_EQ(written.find("\xE2\x80\xAE"), std::string::npos);
  }
}
} // namespace
} // namespace remotemac::report
