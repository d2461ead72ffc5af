// Projects that are broken or mean harm: the survey says what it could not read, and never runs, follows or hangs.
#include "cli/survey/python_sources.h"
#include "common/json.h"
#include "tests/unit/survey/project_fixture.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace remotemac::survey {
namespace {
namespace fs = std::filesystem;

// Answers from a script instead of a process.
class ScriptedRunner final : public ProcessRunner {
public:
  explicit ScriptedRunner(std::vector<Result<ProcessResult>> answers) : m_answers(std::move(answers)) {}
  Result<ProcessResult> run(const ProcessSpec& spec) override {
    seen.push_back(spec);
    if (m_next >= m_answers.size())
      return Error(ErrorCode::process, "no more answers");
    return m_answers[m_next++];
  }
  std::vector<ProcessSpec> seen;

private:
  std::vector<Result<ProcessResult>> m_answers;
  std::size_t m_next = 0;
};

ProcessResult answer(std::string out, int exit_code = 0, int signal = 0) {
  ProcessResult result;
  result.out = std::move(out);
  result.exit_code = exit_code;
  result.signal = signal;
  return result;
}

TEST(Hostile, BrokenSources) {
  Project project;
  project.file("main.py", "import good\n")
      .file("good.py", "x.cuda()\n")
      .file("syntax.py", "def broken(:\n")
      .file("latin.py", "name = 'caf\xe9'\n")
      .file("latin_declared.py", "# -*- coding: latin-1 -*-\nname = 'caf\xe9'\nname.cuda()\n")
      .file("null.py", std::string("x = 1\0\n", 7))
      .file("deep.py", "x = " + std::string(5000, '(') + std::string(5000, ')') + "\n")
      .file("chain.py", [] {
        std::string text = "x = 1";
        for (int i = 0; i < 30'000; ++i)
          text += " + 1";
        return text + "\n";
      }())
      .file("huge.py", "x = '" + std::string(2'000'000, 'a') + "'\n");
  const Survey survey = project.survey();
  for (const char* name : {"syntax.py", "latin.py", "null.py", "deep.py", "huge.py"})
    EXPECT_FALSE(gap_about(survey.not_surveyed, name).empty()) << name;
  EXPECT_NE(gap_about(survey.not_surveyed, "huge.py").find("larger"), std::string::npos);
  EXPECT_NE(signal_at(survey, "cuda-call", "good.py", 1), nullptr) << "one bad file does not hide the others";
  EXPECT_NE(signal_at(survey, "cuda-call", "latin_declared.py", 3), nullptr);
  EXPECT_EQ(survey.counts.python_files, 9u);
  EXPECT_GE(survey.counts.parsed, 3u);
}

TEST(Hostile, NothingOfTheProjectRuns) {
  Project project;
  const std::string mark = (project.folder / "ran").string();
  const std::string code = "open(" + std::string("'") + mark + "', 'w').close()\n";
  for (const char* name : {"main.py", "setup.py", "sitecustomize.py", "usercustomize.py", "ast.py", "json.py", "os.py", "conftest.py", "__init__.py"})
    project.file(name, code);
  const Survey survey = project.survey();
  EXPECT_EQ(survey.counts.parsed, 9u);
  EXPECT_FALSE(fs::exists(mark));
}

TEST(Hostile, LinksAreNotFollowed) {
  Project project;
  test::TempDir outside;
  test::write_file(outside / "secret.py", "x.cuda()\n");
  test::write_file(outside / "requirements.txt", "triton\n");
  project.file("main.py", "import linked\nimport folder.secret\n");
  fs::create_symlink(outside / "secret.py", project.folder / "linked.py");
  fs::create_directory_symlink(outside.path(), project.folder / "folder");
  fs::create_symlink(outside / "requirements.txt", project.folder / "requirements.txt");
  fs::create_directory_symlink(project.folder.path(), project.folder / "loop");
  fs::create_symlink("self", project.folder / "self");
  const Survey survey = project.survey();
  EXPECT_EQ(survey.counts.files, 1u);
  EXPECT_TRUE(survey.signals.empty());
  EXPECT_TRUE(survey.requirements.empty());
  for (const char* name : {"linked.py", "folder", "requirements.txt", "loop", "self"})
    EXPECT_NE(gap_about(survey.not_surveyed, name).find("link"), std::string::npos) << name;
}

TEST(Hostile, SpecialFilesAndOddNames) {
  Project project;
  project.file("main.py", "").file("bad\xff.py", "x.cuda()\n").file("new\nline.py", "x.cuda()\n");
  ASSERT_EQ(::mkfifo((project.folder / "pipe.py").c_str(), 0600), 0);
  const Survey survey = project.survey(); // would hang when it opened the pipe
  EXPECT_NE(gap_about(survey.not_surveyed, "bad").find("UTF-8"), std::string::npos);
  EXPECT_EQ(survey.counts.python_files, 2u);
}

TEST(Hostile, OddRequirementFiles) {
  Project project;
  project.file("main.py", "").file("requirements.txt", "torch\n<html>\nna\xffme\n").file("requirements-big.txt", std::string(2'000'000, '#'));
  const Survey survey = project.survey();
  EXPECT_NE(gap_about(survey.not_surveyed, "requirements.txt").find("UTF-8"), std::string::npos);
  EXPECT_NE(gap_about(survey.not_surveyed, "requirements-big.txt").find("larger"), std::string::npos);
}

TEST(Hostile, EnvironmentsAndToolFoldersAreLeftOut) {
  Project project;
  project.file("main.py", "").file("env/pyvenv.cfg", "").file("env/lib/x.py", "x.cuda()\n").file(".git/hook.py", "x.cuda()\n").file("node_modules/y.py", "y.cuda()\n");
  EXPECT_EQ(project.survey().counts.files, 1u);
}

TEST(Parser, NoInterpreterIsAGapNotSilence) {
  Project project;
  project.file("main.py", "import triton\n").file("requirements.txt", "triton\n");
  ScriptedRunner runner({Error(ErrorCode::process, "python3 was not found")});
  const Result<Survey> survey = survey::survey(project.folder.path(), {"main.py"}, runner);
  ASSERT_TRUE(survey);
  EXPECT_EQ(survey->python_version, "");
  EXPECT_EQ(survey->counts.parsed, 0u);
  EXPECT_NE(gap_about(survey->not_surveyed, "Python sources").find("python3 was not found"), std::string::npos);
  EXPECT_EQ(package_named(*survey, "triton")->need, Need::unknown);
}

TEST(Parser, IsIsolatedAndOutsideOfTheProject) {
  ScriptedRunner runner({answer("{\"python\": \"3.12.0\"}\n{\"file\": \"a.py\"}\n")});
  const Sources sources = parse_sources("/some/project", {"a.py"}, runner);
  EXPECT_EQ(sources.files.size(), 1u);
  ASSERT_EQ(runner.seen.size(), 1u);
  const std::vector<std::string>& argv = runner.seen[0].argv;
  EXPECT_NE(std::ranges::find(argv, "-I"), argv.end());
  EXPECT_NE(std::ranges::find(argv, "-S"), argv.end());
  EXPECT_EQ(runner.seen[0].folder, "/");
  EXPECT_GT(runner.seen[0].deadline.count(), 0);
}

TEST(Parser, GoesOnBehindTheFileThatKilledIt) {
  ScriptedRunner runner({answer("{\"python\": \"3.12.0\"}\n{\"file\": \"a.py\"}\n", -1, 11), answer("{\"python\": \"3.12.0\"}\n{\"file\": \"c.py\"}\n")});
  const Sources sources = parse_sources("/some/project", {"a.py", "b.py", "c.py"}, runner);
  ASSERT_EQ(sources.files.size(), 3u);
  EXPECT_EQ(sources.files[0].error, "");
  EXPECT_NE(sources.files[1].error.find("signal 11"), std::string::npos);
  EXPECT_EQ(sources.files[2].error, "");
  EXPECT_FALSE(gap_about(sources.gaps, "b.py").empty());
}

TEST(Parser, GivesUpAfterManyDeaths) {
  std::vector<Result<ProcessResult>> deaths;
  for (int i = 0; i < 50; ++i)
    deaths.emplace_back(answer("{\"python\": \"3.12.0\"}\n", -1, 9));
  ScriptedRunner runner(std::move(deaths));
  std::vector<std::string> files;
  for (int i = 0; i < 50; ++i)
    files.push_back(std::to_string(i) + ".py");
  const Sources sources = parse_sources("/some/project", files, runner);
  EXPECT_LT(runner.seen.size(), 10u);
  EXPECT_FALSE(gap_about(sources.gaps, "Python sources").empty());
}

TEST(Parser, NonsenseAnswersDoNoHarm) {
  for (const char* text : {"", "\n", "not json\n", "{\"python\": 3}\n", "{\"python\": \"3.12\"}\nnot json\n", "{\"python\": \"3.12\"}\n{\"file\": \"other.py\"}\n",
                           "{\"python\": \"3.12\"}\n{\"file\": \"a.py\", \"imports\": [1, {\"line\": -5, \"level\": 1e9}], \"signals\": {\"id\": 1}, \"mentions\": [null]}\n"}) {
    ScriptedRunner runner({answer(text, 1)});
    const Sources sources = parse_sources("/some/project", {"a.py"}, runner);
    EXPECT_LE(sources.files.size(), 1u) << text;
    EXPECT_TRUE(!sources.gaps.empty() || sources.files[0].error.empty()) << text;
  }
}

} // namespace
} // namespace remotemac::survey
