#include "sides.h"

#include <cmath>
#include <gmock/gmock.h>

namespace remotemac::compare {
namespace {
using test::output;
using test::Sides;
using testing::HasSubstr;

Comparison json_files(const std::string& run, const std::string& reference, const std::map<std::string,
    Tolerance>& tolerances = {}) {
  Sides sides;
  sides.input.tolerances = tolerances;
  return sides.compare("m.json", run, reference);
}

OutputStatus status(const std::string& run, const std::string& reference, const std::string& key) {
  return output(json_files(run, reference), key).status;
}

TEST(JsonOutputs, NumbersGoByPathAndBand) {
  const Comparison all = json_files(R"({"a":{"b":[1.0,2.0,3.0]}})", R"({"a":{"b":[1.0,2.00003,4.0]}})");
  ASSERT_EQ(all.outputs.size(), 3u);
  EXPECT_EQ(output(all, "a.b.0").status, OutputStatus::equal);
  EXPECT_EQ(output(all, "a.b.1").status, OutputStatus::relaxed);
  const OutputPair outside = output(all, "a.b.2");
  EXPECT_EQ(outside.status, OutputStatus::outside);
  EXPECT_EQ(outside.max_abs, 1.0);
  EXPECT_EQ(outside.max_rel, 0.25);
  EXPECT_EQ(outside.mismatches, 1u);
  EXPECT_EQ(outside.first_index, 0u);
  EXPECT_EQ(outside.tolerance_source, "default");
  EXPECT_EQ(all.counts, (std::map<std::string, std::uint64_t>{{"equal", 1}, {"relaxed", 1}, {"outside", 1}}));
}

TEST(JsonOutputs, WholeNumbersStringsAndFlagsAreExact) {
  EXPECT_EQ(status(R"({"n":1000000})", R"({"n":1000001})", "n"), OutputStatus::outside);
  EXPECT_EQ(status(R"({"n":9007199254740993})", R"({"n":9007199254740992})", "n"), OutputStatus::outside);
  EXPECT_EQ(status(R"({"n":1})", R"({"n":1.0})", "n"), OutputStatus::equal);
  EXPECT_EQ(status(R"({"t":"a"})", R"({"t":"b"})", "t"), OutputStatus::outside);
  EXPECT_EQ(status(R"({"t":true})", R"({"t":false})", "t"), OutputStatus::outside);
  EXPECT_EQ(status(R"({"t":null})", R"({"t":null})", "t"), OutputStatus::equal);
}

TEST(JsonOutputs, TypesShapesAndMissingKeysAreTold) {
  EXPECT_EQ(status(R"({"t":"1"})", R"({"t":1})", "t"), OutputStatus::type_differs);
  EXPECT_EQ(status(R"({"t":[1]})", R"({"t":{"0":1}})", "t"), OutputStatus::type_differs);
  const OutputPair shape = output(json_files(R"({"t":[1,2]})", R"({"t":[1,2,3]})"), "t");
  EXPECT_EQ(shape.status, OutputStatus::shape_differs);
  EXPECT_EQ(shape.shape_run, "(2)");
  EXPECT_EQ(shape.shape_reference, "(3)");
  EXPECT_EQ(status(R"({"a":1})", R"({"a":1,"b":2})", "b"), OutputStatus::missing_in_run);
  EXPECT_EQ(status(R"({"a":1,"b":2})", R"({"a":1})", "b"), OutputStatus::missing_in_reference);
}

TEST(JsonOutputs, NotANumberIsSeenAsPythonWritesIt) {
  const OutputPair lost = output(json_files(R"({"loss":NaN,"t":"NaN \" NaN"})", R"({"loss":0.5,"t":"NaN \" NaN"})"), "loss");
  EXPECT_EQ(lost.status, OutputStatus::outside);
  EXPECT_TRUE(lost.nan_pattern_differs);
  EXPECT_EQ(lost.nan_run, 1u);
  EXPECT_EQ(lost.nan_reference, 0u);
  EXPECT_FALSE(lost.max_abs);
  EXPECT_EQ(status(R"({"t":"NaN \" NaN"})", R"({"t":"NaN \" NaN"})", "t"), OutputStatus::equal);
  EXPECT_EQ(status(R"([NaN])", R"([NaN])", "0"), OutputStatus::equal);
  EXPECT_EQ(status(R"([Infinity])", R"([Infinity])", "0"), OutputStatus::equal);
  EXPECT_EQ(status(R"([-Infinity])", R"([Infinity])", "0"), OutputStatus::outside);
  EXPECT_EQ(status(R"([1e308])", R"([-1e308])", "0"), OutputStatus::outside);
}

TEST(JsonOutputs, TimesAndNamesOfDevicesAreNotCompared) {
  for (const std::string key : {"seconds", "epoch_seconds", "time", "train_time", "duration", "wall_s", "trainTime",
      "time_per_step", "elapsed"}) {
    const OutputPair pair = output(json_files("{\"" + key + "\":1.0}", "{\"" + key + "\":9.0}"), key);
    EXPECT_EQ(pair.status, OutputStatus::not_compared) << key;
    EXPECT_FALSE(pair.detail.empty());
  }
  for (const std::string key : {"time_steps", "s", "loss", "timesteps", "sentiment", "classes"})
    EXPECT_EQ(status("{\"" + key + "\":1.0}", "{\"" + key + "\":9.0}", key), OutputStatus::outside) << key;
  EXPECT_EQ(status(R"({"device":"mps:0"})", R"({"device":"cuda"})", "device"), OutputStatus::not_compared);
}

TEST(JsonOutputs, DeclaredTolerancesCoverWhatLiesBelow) {
  const std::map<std::string, Tolerance> tolerances = {{"m.json:loss", {0.5, std::nullopt}}, {"m.json:n", {2.0, 0.0}},
      {"m.json:time", {1.0, 0.0}}};
  const Comparison all = json_files(R"({"loss":[1.0,1.0,1.0],"losses":1.0,"n":5,"time":1.0})",
      R"({"loss":[1.4,3.0,99.0],"losses":1.4,"n":6,"time":1.5})", tolerances);
  EXPECT_EQ(output(all, "loss.0").status, OutputStatus::equal);
  EXPECT_EQ(output(all, "loss.0").tolerance_source, "declared");
  EXPECT_EQ(output(all, "loss.0").tolerance_abs, 0.5);
  EXPECT_EQ(output(all, "loss.1").status, OutputStatus::relaxed);
  EXPECT_EQ(output(all, "loss.2").status, OutputStatus::outside);
  EXPECT_EQ(output(all, "losses").status, OutputStatus::outside);
  EXPECT_EQ(output(all, "n").status, OutputStatus::equal);
  EXPECT_EQ(output(all, "time").status, OutputStatus::equal);
}

TEST(JsonOutputs, WhatCannotBeReadSaysWhyAndWhere) {
  EXPECT_THAT(output(json_files("{", "{}"), "").detail, HasSubstr("in the run: "));
  const OutputPair pair = output(json_files("{}", "nonsense"), "");
  EXPECT_EQ(pair.status, OutputStatus::unreadable);
  EXPECT_THAT(pair.detail, HasSubstr("in the reference: "));
  EXPECT_EQ(output(json_files(std::string(100000, '['), "[]"), "").status, OutputStatus::unreadable);
}

TEST(JsonOutputs, ALongListIsCutButTheTotalIsTrueAndDifferencesStay) {
  std::string run = "[";
  for (int i = 0; i < 5000; ++i)
    run += i == 0 ? "0" : ",0";
  const std::string reference = run + ",7]";
  run += ",8]";
  const Comparison all = json_files(run, reference);
  EXPECT_EQ(all.outputs_total, 5001u);
  EXPECT_EQ(all.outputs.size(), 2000u);
  EXPECT_EQ(all.counts.at("equal"), 5000u);
  EXPECT_EQ(all.outputs.back().key, "5000");
  EXPECT_EQ(all.outputs.back().status, OutputStatus::outside);
}

} // namespace
} // namespace remotemac::compare
