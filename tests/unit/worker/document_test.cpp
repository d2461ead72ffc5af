#include "daemon/worker/document.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace remotemac::worker {
namespace {

using nlohmann::json;

Finding finding(Status status) {
  Finding result;
  result.id = "device.add.contiguous";
  result.operation = "aten::add.Tensor";
  result.name = "contiguous";
  result.status = status;
  return result;
}

Document battery(Status status, GroupStatus group_status = GroupStatus::ok) {
  Document document;
  document.kind = "battery";
  document.device = "mps";
  document.profile = "quick";
  document.facts = {"2.15.0", "2.15.0+cpu", true, "a stand-in"};
  GroupReport group;
  group.name = "device";
  group.status = group_status;
  group.findings = {finding(status)};
  document.groups.push_back(std::move(group));
  return document;
}

TEST(WorkerDocument, HasEveryKeyOfTheBattery) {
  const json value = json::parse(to_text(battery(Status::pass)));
  EXPECT_EQ(value["format"], "remotemac-worker");
  EXPECT_EQ(value["version"], 1);
  EXPECT_EQ(value["torch"], (json{{"built_for", "2.15.0"}, {"running", "2.15.0+cpu"}}));
  EXPECT_EQ(value["simulated"], (json{{"value", true}, {"reason", "a stand-in"}}));
  EXPECT_EQ(value["profile"], "quick");
  EXPECT_EQ(value["counts"], (json{{"pass", 1}}));
  EXPECT_FALSE(value.contains("replay"));
  for (const char* key : {"id", "group", "operator", "case", "status", "detail", "reproduce", "error"})
    EXPECT_TRUE(value["findings"][0].contains(key)) << key;
  for (const char* key : {"name", "status", "signal", "exit_code", "seconds", "last_case", "stderr_tail"})
    EXPECT_TRUE(value["groups"][0].contains(key)) << key;
  EXPECT_EQ(value["findings"][0]["group"], "device");
  EXPECT_TRUE(value["findings"][0]["error"].is_null());
}

TEST(WorkerDocument, ReplayCountsItsOwnStatuses) {
  Document document;
  document.kind = "replay";
  document.replay.push_back({0, "aten::add.Tensor", 7, finding(Status::native)});
  document.replay.push_back({1, "aten::mm", 2, finding(Status::mismatch)});
  document.replay[0].finding.seconds_per_call = 0.5;
  const json value = json::parse(to_text(document));
  EXPECT_EQ(value["counts"], (json{{"native", 1}, {"mismatch", 1}}));
  EXPECT_EQ(value["replay"][0]["calls"], 7);
  EXPECT_DOUBLE_EQ(value["replay"][0]["seconds_per_call"].get<double>(), 0.5);
  EXPECT_TRUE(value["replay"][1]["seconds_per_call"].is_null());
  EXPECT_FALSE(value.contains("findings"));
}

TEST(WorkerDocument, NumbersAreFinite) {
  Document document = battery(Status::fail);
  ErrorStats stats;
  stats.max_abs = stats.max_rel = std::numeric_limits<double>::infinity();
  stats.band = Band::outside;
  document.groups[0].findings[0].error = stats;
  const json value = json::parse(to_text(document));
  EXPECT_TRUE(value["findings"][0]["error"]["max_abs"].is_null());
  EXPECT_EQ(value["findings"][0]["error"]["band"], "outside");
}

TEST(WorkerDocument, TroubleIsWhatStandsForTrouble) {
  EXPECT_FALSE(shows_trouble(battery(Status::pass)));
  EXPECT_FALSE(shows_trouble(battery(Status::note)));
  EXPECT_FALSE(shows_trouble(battery(Status::not_tested)));
  for (const Status each : {Status::fail, Status::crash, Status::hang})
    EXPECT_TRUE(shows_trouble(battery(each))) << status_name(each);
  EXPECT_TRUE(shows_trouble(battery(Status::pass, GroupStatus::error)));
}

TEST(WorkerDocument, IsWrittenWhole) {
  const test::TempDir folder;
  const auto written = write_document(battery(Status::pass), folder / "out.json");
  ASSERT_TRUE(written) << written.error().chain();
  EXPECT_EQ(test::read_file(folder / "out.json"), to_text(battery(Status::pass)));
  EXPECT_FALSE(write_document(battery(Status::pass), folder / "missing/out.json"));
}

TEST(Finding, SurvivesTheJournal) {
  Finding before = finding(Status::note);
  before.detail = "d";
  before.reproduce = "import torch\n";
  before.error = ErrorStats{0.5, 0.25, 1e-7, Band::relaxed, 3, 10};
  before.seconds_per_call = 0.125;
  before.missing_operator = true;
  const auto after = finding_from_json(to_json(before));
  ASSERT_TRUE(after) << after.error().chain();
  EXPECT_EQ(to_json(*after), to_json(before));
  EXPECT_EQ(after->error->band, Band::relaxed);
  EXPECT_FALSE(finding_from_json(json{{"status", "splendid"}}));
}

TEST(Finding, EveryStatusHasItsOwnName) {
  for (const Status each : {Status::pass, Status::note, Status::fail, Status::crash, Status::hang, Status::not_tested, Status::native, Status::fallback,
                            Status::unsupported, Status::mismatch})
    EXPECT_EQ(status_from_name(status_name(each)), each);
  EXPECT_FALSE(status_from_name(""));
}

} // namespace
} // namespace remotemac::worker
