#include "daemon/worker/recording.h"

#include "tests/support/temp_dir.h"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace remotemac::worker {
namespace {

using nlohmann::json;

json tensor_json(std::vector<int> shape, std::vector<int> stride, const std::string& device = "cpu") {
  return {{"tensor", {{"dtype", "float32"}, {"shape", shape}, {"stride", stride}, {"offset", 0}, {"layout", "strided"}, {"requires_grad", false}, {"device", device}}}};
}

json signature_json(json args = json::array(), json kwargs = json::object()) {
  return {{"op", "aten::mul"}, {"overload", "Tensor"}, {"calls", 12}, {"args", std::move(args)}, {"kwargs", std::move(kwargs)}};
}

json recording_json(json signatures) { return {{"format", "remotemac-recording"}, {"version", 1}, {"torch", "2.15.0"}, {"signatures", std::move(signatures)}}; }

Recording parsed(const json& signatures) {
  auto recording = parse_recording(recording_json(signatures).dump());
  EXPECT_TRUE(recording) << recording.error().chain();
  return recording ? std::move(*recording) : Recording();
}

std::string problem_of(const json& argument) {
  const Recording recording = parsed(json::array({signature_json(json::array({argument}))}));
  return recording.signatures.at(0).problem;
}

TEST(RecordingFile, ReadsEveryKindOfValue) {
  const json args = json::array({tensor_json({2, 3}, {1, 2}), {{"int", -4}}, {{"float", 0.5}}, {{"float", "-inf"}}, {{"bool", true}}, {{"string", "mean"}}, {{"none", nullptr}},
                                 {{"dtype", "float16"}}, {{"layout", "strided"}}, {{"memory_format", "channels_last"}}, {{"complex", {1.0, "nan"}}}, {{"list", {{{"int", 1}}}}}});
  const Recording recording = parsed(json::array({signature_json(args, {{"alpha", {{"float", 2}}}})}));
  ASSERT_EQ(recording.signatures.size(), 1U);
  const Signature& signature = recording.signatures[0];
  EXPECT_EQ(signature.problem, "");
  EXPECT_EQ(operator_name(signature), "aten::mul.Tensor");
  EXPECT_EQ(signature.calls, 12U);
  EXPECT_EQ(signature.args.size(), args.size());
  EXPECT_EQ(signature.args[0].tensor.stride, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(signature.args[3].real, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(signature.args.back().items.at(0).integer, 1);
  EXPECT_EQ(signature.kwargs.at("alpha").real, 2);
}

TEST(RecordingFile, RefusesWhatIsNoRecording) {
  for (const json& wrong : {json(7), json::object(), json{{"format", "remotemac-harness"}}, json{{"format", "remotemac-recording"}, {"version", 2}},
                            json{{"format", "remotemac-recording"}, {"version", 1}, {"signatures", "many"}}})
    EXPECT_FALSE(parse_recording(wrong.dump())) << wrong;
  EXPECT_FALSE(parse_recording("{"));
  EXPECT_FALSE(parse_recording(""));
  const test::TempDir folder;
  EXPECT_FALSE(read_recording(folder / "missing.json"));
}

// The index of every other signature stays right.
TEST(RecordingFile, KeepsOneUnsoundSignatureWithItsProblem) {
  const Recording recording = parsed(json::array({json(5), signature_json(json::array({{{"opaque", "Thing"}, {"int", 1}}})), signature_json()}));
  ASSERT_EQ(recording.signatures.size(), 3U);
  EXPECT_NE(recording.signatures[0].problem, "");
  EXPECT_NE(recording.signatures[1].problem, "");
  EXPECT_EQ(recording.signatures[2].problem, "");
}

TEST(RecordingFile, NamesWhatIsWrongWithAnArgument) {
  EXPECT_NE(problem_of({{"banana", 1}}), "");
  EXPECT_NE(problem_of({{"int", 1.5}}), "");
  EXPECT_NE(problem_of({{"float", "many"}}), "");
  EXPECT_NE(problem_of({{"string", std::string(300, 'x')}}), "");
  EXPECT_NE(problem_of(tensor_json({2, 3}, {1})), "");
  EXPECT_NE(problem_of(tensor_json({-2}, {1})), "");
  EXPECT_NE(problem_of(tensor_json({2}, {-1})), "");
  EXPECT_NE(problem_of(tensor_json({2}, {1}, "meta")), "");
  EXPECT_NE(problem_of(tensor_json(std::vector<int>(33, 1), std::vector<int>(33, 1))), "");
  json sparse = tensor_json({2}, {1});
  sparse["tensor"]["layout"] = "sparse_coo";
  EXPECT_NE(problem_of(sparse).find("sparse_coo"), std::string::npos);
  json quantized = tensor_json({2}, {1});
  quantized["tensor"]["dtype"] = "qint8";
  EXPECT_NE(problem_of(quantized).find("qint8"), std::string::npos);
}

TEST(RecordingFile, BoundsMemoryAndNesting) {
  EXPECT_NE(problem_of(tensor_json({1 << 20, 1 << 20}, {1 << 20, 1})).find("limit"), std::string::npos);
  EXPECT_NE(problem_of(tensor_json({1 << 30, 1 << 30}, {0, 0})).find("limit"), std::string::npos) << "expanding costs when it is computed with";
  json nested = {{"int", 1}};
  for (int i = 0; i < 10; ++i)
    nested = {{"list", json::array({nested})}};
  EXPECT_NE(problem_of(nested), "");
  EXPECT_NE(problem_of({{"list", json(std::vector<json>(20'001, {{"int", 1}}))}}), "");
}

TEST(RecordingFile, ARunOnTheCpuMayMoveToTheDevice) {
  const Recording recording = parsed(json::array({signature_json(json::array({tensor_json({2}, {1}), {{"device", "cpu"}}}))}));
  EXPECT_FALSE(recording.signatures[0].args[0].tensor.stays_on_host);
  EXPECT_EQ(recording.signatures[0].args[1].text, k_target_device);
  EXPECT_EQ(recording.signatures[0].problem, "");
}

TEST(RecordingFile, WhatAnAcceleratedRunLeftOnTheCpuStaysThere) {
  const Recording recording = parsed(json::array({signature_json(json::array({tensor_json({2}, {1}, "cuda:0"), tensor_json({}, {}), {{"device", "cuda:0"}}, {{"device", "cpu"}}})),
                                                  signature_json(json::array({tensor_json({2}, {1})}))}));
  const Signature& mixed = recording.signatures[0];
  EXPECT_FALSE(mixed.args[0].tensor.stays_on_host);
  EXPECT_TRUE(mixed.args[1].tensor.stays_on_host);
  EXPECT_EQ(mixed.args[2].text, k_target_device);
  EXPECT_EQ(mixed.args[3].text, "cpu");
  EXPECT_NE(recording.signatures[1].problem.find("CPU"), std::string::npos);
}

// Whatever stands in the file, reading it ends, and a signature without a problem is within bounds.
TEST(RecordingFile, SurvivesDamagedDocuments) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const json args = json::array({tensor_json({2, 3}, {3, 1}), {{"list", {{{"int", 1}}}}}, {{"complex", {1.0, 2.0}}}, {{"device", "cpu"}}});
  const std::string sound = recording_json(json::array({signature_json(args, {{"alpha", {{"float", 2}}}})})).dump();
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = sound;
    for (int n = 0; n < 3; ++n)
      damaged[random() % damaged.size()] = "0-9\"{}[],:aeE\x80"[random() % 14];
    const auto recording = parse_recording(damaged);
    if (!recording)
      continue;
    for (Signature signature : recording->signatures)
      if (signature.problem.empty())
        visit_tensors(signature, [&](TensorSpec& each) {
          EXPECT_LE(storage_elements(each).value_or(UINT64_MAX), k_max_elements) << damaged;
          EXPECT_TRUE(is_known_dtype(each.dtype)) << damaged;
        });
  }
}

} // namespace
} // namespace remotemac::worker
