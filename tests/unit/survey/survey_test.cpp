// The whole survey, on the example projects of the documentation.
#include "common/evidence.h"
#include "tests/unit/survey/project_fixture.h"

#include <nlohmann/json.hpp>

namespace remotemac::survey {
namespace {

Survey of_example(const std::string& name, const std::string& script) {
  PosixProcessRunner runner;
  Result<Survey> result = survey::survey(std::filesystem::path(RM_EXAMPLES_DIR) / name, {script}, runner);
  EXPECT_TRUE(result) << (result ? "" : result.error().chain());
  return result ? *result : Survey{};
}

std::size_t to_change(const Survey& survey) {
  return static_cast<std::size_t>(std::ranges::count_if(survey.signals, [](const SurveySignal& signal) { return !signal.guarded && signal.severity >= Severity::fix; }));
}

TEST(Examples, SilentCpu) {
  const Survey survey = of_example("silent-cpu", "train.py");
  const SurveySignal* signal = signal_at(survey, "cuda-else-cpu", "train.py", 8);
  ASSERT_NE(signal, nullptr);
  EXPECT_EQ(signal->severity, Severity::fix);
  EXPECT_EQ(signal->reach, Reach::reached);
  EXPECT_NE(signal->effect.find("CPU"), std::string::npos);
  EXPECT_NE(signal->instead.find("mps"), std::string::npos);
  EXPECT_EQ(to_change(survey), 1u);
  EXPECT_EQ(survey.effort, Effort::minutes);
  EXPECT_NE(one_line(survey).find("cuda-else-cpu at train.py:8"), std::string::npos) << one_line(survey);
}

TEST(Examples, Float64) {
  const Survey survey = of_example("fp64", "calibrate.py");
  EXPECT_NE(signal_at(survey, "float64", "calibrate.py", 23), nullptr);
  EXPECT_NE(signal_at(survey, "float64", "calibrate.py", 39), nullptr) << "the default of the argument";
  EXPECT_EQ(survey.effort, Effort::minutes);
}

TEST(Examples, PortableOnesAskForNothing) {
  for (const auto& [name, script] : {std::pair{"digits", "train.py"}, std::pair{"clinic", "train.py"}, std::pair{"missing-op", "embed.py"}}) {
    const Survey survey = of_example(name, script);
    EXPECT_TRUE(survey.entry.resolved) << name;
    EXPECT_EQ(survey.counts.parsed, survey.counts.python_files) << name;
    EXPECT_EQ(to_change(survey), 0u) << name << ": " << one_line(survey);
    EXPECT_EQ(survey.effort, Effort::none) << name;
    EXPECT_TRUE(survey.not_surveyed.empty()) << name << ": " << survey.not_surveyed[0].what << " " << survey.not_surveyed[0].reason;
    ASSERT_NE(module_named(survey, "torch"), nullptr) << name;
    EXPECT_EQ(module_named(survey, "torch")->reach, Reach::reached) << name;
  }
}

TEST(Survey, DigitsKeepsTheExporterApart) {
  const Survey survey = of_example("digits", "train.py");
  ASSERT_NE(module_named(survey, "sklearn"), nullptr);
  EXPECT_EQ(module_named(survey, "sklearn")->reach, Reach::not_reached);
  EXPECT_EQ(survey.requirements.size(), 2u);
}

TEST(Survey, GoesThroughTheEvidenceUnchanged) {
  Project project;
  project.file("main.py", "import torch\nimport triton\nx.cuda()\n").file("requirements.txt", "torch==2.1.0+cu118\ntriton; sys_platform == 'linux'\n").file("bad.py", "(\n");
  const Survey survey = project.survey();
  const nlohmann::json written = to_json(survey);
  const Result<Survey> read = survey_from_json(written);
  ASSERT_TRUE(read) << read.error().chain();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->signals.size(), survey.signals.size());
}

TEST(Survey, OneLineNamesWhatMatters) {
  Project project;
  project.file("main.py", "import triton\nx.cuda()\ny.cuda()\n");
  EXPECT_EQ(one_line(project.survey()),
            "1 of 1 Python file read, 1 needed package made for CUDA (triton), 2 places to change (first cuda-call at main.py:2), effort days");
}

TEST(Survey, NoFolderIsAnError) {
  PosixProcessRunner runner;
  const Result<Survey> result = survey::survey("/nonexistent/project", {"main.py"}, runner);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::project);
}

} // namespace
} // namespace remotemac::survey
