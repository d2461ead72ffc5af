// Documents from a host that lies: wrong types everywhere, huge lists, control characters, absolute paths, numbers that are none.
#include "cli/verdict/verdict.h"
#include "common/evidence.h"
#include "common/json.h"
#include "common/text.h"
#include "evidence_case.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace remotemac {
namespace {

using nlohmann::json;

json harness() {
  return to_json(testing::mini_run_on_mac("strict"));
}

HarnessDocument read(const json& value) {
  Result<HarnessDocument> out = harness_document_from_json(value);
  EXPECT_TRUE(out) << out.error().chain();
  return out ? std::move(*out) : HarnessDocument{};
}

TEST(HostileEvidence, WhatIsNotADocumentIsRefused) {
  for (const json& value : {json(nullptr), json(3), json("x"), json::array(), json::object(), json{{"format", 7}, {"version", 1}},
                            json{{"format", "remotemac-harness"}, {"version", 2}},
                            json{{"format", "remotemac-harness"}, {"version", "1"}}, json{{"format", "remotemac-harness"}}}) {
    const Result<HarnessDocument> run = harness_document_from_json(value);
    ASSERT_FALSE(run) << value.dump();
    EXPECT_EQ(run.error().code(), ErrorCode::corrupt);
    EXPECT_FALSE(worker_document_from_json(value));
    EXPECT_FALSE(survey_from_json(value));
    EXPECT_FALSE(evidence_from_json(value));
  }
}

TEST(HostileEvidence, APartThatCannotBeReadIsAbsentWithTheReason) {
  json file = to_json(testing::everything_shown());
  file["strict"] = {{"format", "remotemac-harness"}, {"version", 99}};
  file["gate"] = "allowed";
  file["reference"] = json::array({1});
  const Result<Evidence> read_back = evidence_from_json(file);
  ASSERT_TRUE(read_back);
  EXPECT_FALSE(read_back->strict || read_back->gate || read_back->reference);
  EXPECT_NE(read_back->absent.at("strict").find("version"), std::string::npos);
  EXPECT_TRUE(read_back->absent.contains("gate") && read_back->absent.contains("reference"));
  EXPECT_TRUE(read_back->permissive);
}

TEST(HostileEvidence, ListsAreCapped) {
  json value = harness();
  for (int i = 0; i < 50'000; ++i)
    value["notes"].push_back("n");
  value["operations"] = json::array();
  for (int i = 0; i < 50'000; ++i)
    value["operations"].push_back({{"name", "aten::x"}});
  const HarnessDocument document = read(value);
  EXPECT_LE(document.notes.size(), 20'000u);
  EXPECT_LE(document.operations.size(), 20'000u);
}

TEST(HostileEvidence, TextsAreCleanedAndCapped) {
  json value = harness();
  value["outcome"] = {
      {"status", "exception"},
      {"exit_code", 1},
      {"exception", {{"type", "E\x1b[31m"}, {"message", std::string(2'000'000, 'x')}, {"file", "a\nb.py"}, {"line", -5}}}};
  value["notes"] = {"\xff\xfe", "tab\tnewline\n",
                    "\xe2\x80\xae"
                    "evil"};
  const HarnessDocument document = read(value);
  EXPECT_EQ(document.outcome.exception->type.find('\x1b'), std::string::npos);
  EXPECT_LE(document.outcome.exception->message.size(), 4200u);
  EXPECT_EQ(document.outcome.exception->file.find('\n'), std::string::npos);
  EXPECT_EQ(document.outcome.exception->line, 0);
  for (const std::string& note : document.notes) {
    EXPECT_TRUE(is_valid_utf8(note));
    EXPECT_EQ(note, clean_line(note));
  }
}

TEST(HostileEvidence, PathsOutsideTheProjectAreShortened) {
  const std::vector<std::pair<std::string, std::string>> messages{
      {"No such file: /home/someone/secret/data.csv", "No such file: .../data.csv"},
      {"File \"/opt/venv/lib/a.py\", line 3", "File \".../a.py\", line 3"},
      {"see file:///home/someone/x.txt now", "see .../x.txt now"},
      {"at ~/private/y.txt", "at .../y.txt"},
      {"in C:\\Users\\someone\\z.txt.", "in .../z.txt."},
      {"path=/srv/a/b", "path=.../b"},
      {"https://example.org/issues/12", "https://example.org/issues/12"},
      {"src/model.py and a/b", "src/model.py and a/b"},
      {"3 / 4", "3 / 4"},
  };
  for (const auto& [text, expected] : messages) {
    json value = harness();
    value["notes"] = {text};
    EXPECT_EQ(read(value).notes.at(0), expected);
  }
  for (const auto& [path, expected] : std::vector<std::pair<std::string, std::string>>{{"/etc/passwd", ".../passwd"},
                                                                                       {"../../up.py", ".../up.py"},
                                                                                       {"a/../../b.py", ".../b.py"},
                                                                                       {"..", "..."},
                                                                                       {"src/a.py", "src/a.py"},
                                                                                       {"a..b/c.py", "a..b/c.py"}}) {
    json value = harness();
    value["unsupported"] = {{{"operator", "aten::x"}, {"message", ""}, {"file", path}, {"line", 1}}};
    EXPECT_EQ(read(value).unsupported.at(0).file, expected);
  }
}

TEST(HostileEvidence, NumbersThatAreNoneDoNotCount) {
  json value = harness();
  value["timing"] = {{"wall_s", std::numeric_limits<double>::quiet_NaN()},
                     {"steps", -3},
                     {"step_median_s", std::numeric_limits<double>::infinity()},
                     {"first_step_s", "1"}};
  value["memory"] = {
      {"peak_device_bytes", -1}, {"samples", {{1, -2}, {1}, "x", {2, 5}}}, {"slope_bytes_per_step", json::object()}};
  value["fallbacks"] = {{{"operator", "aten::x"}, {"share", 1e9}, {"calls", 1.5}}};
  value["device_use"] = {{"mps", {{"operations", 1e300}}}};
  value["outcome"] = {{"status", "ok"}, {"exit_code", 9'000'000'000}};
  const HarnessDocument document = read(value);
  EXPECT_EQ(document.timing.wall_s, 0);
  EXPECT_EQ(document.timing.steps, 0u);
  EXPECT_FALSE(document.timing.step_median_s || document.timing.first_step_s || document.memory.peak_device_bytes ||
               document.memory.slope_bytes_per_step);
  ASSERT_EQ(document.memory.samples.size(), 1u);
  EXPECT_EQ(document.memory.samples[0].device_bytes, 5u);
  EXPECT_FALSE(document.fallbacks[0].share);
  EXPECT_EQ(document.operations_on("mps"), 0u);
  EXPECT_FALSE(document.outcome.exit_code);
}

TEST(HostileEvidence, UnknownWordsAreTakenForTheWorse) {
  EXPECT_EQ(comparison_from_json({{"alikeness", "very"}}).alikeness, Alikeness::unknown);
  json value = harness();
  value["outcome"]["status"] = "splendid";
  EXPECT_EQ(read(value).outcome.status, OutcomeStatus::not_run);
  value["simulated"] = {{"value", "no"}};
  EXPECT_FALSE(read(value).simulated.value);
  EXPECT_FALSE(transfer_facts_from_json({{"audited", 1}}).audited);
}

json junk(std::mt19937_64& random) {
  switch (random() % 9) {
  case 0: return nullptr;
  case 1: return true;
  case 2: return -1;
  case 3: return std::numeric_limits<std::uint64_t>::max();
  case 4: return std::numeric_limits<double>::quiet_NaN();
  case 5: return "\x1b]0;\xff/home/someone/x";
  case 6: return json::array({nullptr, 1, "x", json::object()});
  case 7: return json{{"value", json::array()}, {"", 1}};
  default: return std::string(10'000, '/');
  }
}

// Every leaf or branch may be anything.
void spoil(json& value, std::mt19937_64& random) {
  for (json& each : value) {
    if (random() % 6 == 0)
      each = junk(random);
    else if (each.is_structured())
      spoil(each, random);
  }
}

TEST(HostileEvidence, AnySpoiltFileIsReadJudgedAndWrittenWithoutHarm) {
  const char* given = std::getenv("RM_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "seed " << seed << " (set RM_TEST_SEED to repeat)\n";
  std::mt19937_64 random(seed);
  const json good = to_json(testing::everything_shown());
  for (int round = 0; round < 100; ++round) {
    json value = good;
    spoil(value, random);
    value["format"] = "remotemac-evidence";
    value["version"] = 1;
    const Result<Evidence> evidence = evidence_from_json(value);
    ASSERT_TRUE(evidence);
    const std::string written = dump_json(to_json(*evidence));
    const std::size_t leak = written.find("/home/someone");
    EXPECT_EQ(leak, std::string::npos) << "round " << round << ": "
                                       << written.substr(leak < 200 || leak == std::string::npos ? 0 : leak - 200, 220);
    EXPECT_EQ(written.find("\\u001b"), std::string::npos) << "round " << round;
    const verdict::Verdict verdict = verdict::judge(*evidence);
    EXPECT_EQ(verdict.criteria.size(), 12u);
    for (const verdict::Criterion& each : verdict.criteria) {
      for (const verdict::Line& line : each.lines)
        ASSERT_EQ(line.text, clean_line(line.text, 100'000)) << "round " << round;
    }
    const Result<json> again = parse_json(written, "the evidence");
    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*evidence_from_json(*again)), *again) << "round " << round;
  }
}

} // namespace
} // namespace remotemac
