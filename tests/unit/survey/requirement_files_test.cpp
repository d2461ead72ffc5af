// The readers of whole files.
#include "cli/survey/requirement_files.h"
#include "tests/unit/survey/project_fixture.h"

namespace remotemac::survey {
namespace {

RequirementFindings read(const Project& project) {
  std::vector<SurveyGap> gaps;
  const ProjectFiles files = ProjectFiles::list(project.folder.path(), gaps);
  return read_requirement_files(files);
}

const SurveyRequirement* named(const RequirementFindings& found, std::string_view name) {
  const auto at = std::ranges::find(found.requirements, name, &SurveyRequirement::name);
  return at == found.requirements.end() ? nullptr : &*at;
}

TEST(PipFiles, LinesIncludesAndGroups) {
  Project project;
  project.file("requirements.txt", "# comment\ntorch==2.1.0+cu118  # pinned\r\n-r requirements/base.txt\nnumpy \\\n  >=1.26 --hash=sha256:00\n-c limits.txt\n-e .[dev]\n")
      .file("requirements/base.txt", "bitsandbytes\n")
      .file("requirements/dev.txt", "triton; sys_platform == 'linux'\n")
      .file("requirements-gpu.txt", "cupy-cuda12x\n")
      .file("tools/requirements.txt", "rich\n")
      .file("limits.txt", "scipy<2\n");
  const RequirementFindings found = read(project);
  ASSERT_NE(named(found, "torch"), nullptr);
  EXPECT_EQ(named(found, "torch")->line, 2);
  ASSERT_NE(named(found, "numpy"), nullptr);
  EXPECT_EQ(named(found, "numpy")->line, 4);
  EXPECT_EQ(named(found, "numpy")->specifier, ">=1.26");
  ASSERT_NE(named(found, "bitsandbytes"), nullptr);
  EXPECT_EQ(named(found, "bitsandbytes")->group, "");
  EXPECT_EQ(named(found, "bitsandbytes")->file, "requirements/base.txt");
  EXPECT_EQ(named(found, "triton")->group, "dev");
  EXPECT_TRUE(named(found, "triton")->skipped_on_mac);
  EXPECT_EQ(named(found, "cupy-cuda12x")->group, "gpu");
  EXPECT_EQ(named(found, "rich")->group, "tools");
  EXPECT_EQ(named(found, "scipy"), nullptr) << "constraints require nothing";
  ASSERT_EQ(found.signals.size(), 1u);
  EXPECT_EQ(found.signals[0].id, "cuda-wheel");
  EXPECT_EQ(found.signals[0].line, 2);
  EXPECT_TRUE(found.gaps.empty()) << found.gaps[0].what << ": " << found.gaps[0].reason;
}

TEST(PipFiles, IndexesForCuda) {
  Project project;
  project.file("requirements.txt", "--extra-index-url https://user:hunter2@download.pytorch.org/whl/cu121\n--index-url=https://pypi.example.org/simple\n"
                                   "-f https://host/curious/list.html\ntorch\n");
  const RequirementFindings found = read(project);
  ASSERT_EQ(found.signals.size(), 1u) << "curious is no CUDA version";
  EXPECT_EQ(found.signals[0].id, "cuda-index");
  EXPECT_EQ(found.signals[0].construct.find("hunter2"), std::string::npos);
}

TEST(PipFiles, CirclesEscapesAndMissingIncludes) {
  Project project;
  project.file("requirements.txt", "-r a/more.txt\n-r ../../etc/passwd\n-r /etc/passwd\n-r missing.txt\n")
      .file("a/more.txt", "-r ../requirements.txt\nnumpy\n");
  const RequirementFindings found = read(project);
  EXPECT_EQ(found.requirements.size(), 1u);
  EXPECT_NE(gap_about(found.gaps, "a/more.txt:1").find("circle"), std::string::npos);
  EXPECT_NE(gap_about(found.gaps, "requirements.txt:2").find("outside"), std::string::npos);
  EXPECT_NE(gap_about(found.gaps, "requirements.txt:3").find("outside"), std::string::npos);
  EXPECT_NE(gap_about(found.gaps, "requirements.txt:4").find("missing"), std::string::npos);
}

TEST(Pyproject, Pep621GroupsAndPoetry) {
  RequirementFindings found;
  read_pyproject(R"([project]
name = "x"
dependencies = ["torch>=2", "triton; sys_platform == 'linux'"]
[project.optional-dependencies]
gpu = ["flash-attn"]
[dependency-groups]
test = ["pytest", {include-group = "gpu"}]
[tool.poetry.dependencies]
python = "^3.11"
apex = {git = "https://u:hunter2@git.example.org/NVIDIA/apex.git", optional = true}
cupy-cuda12x = [{version = "^13", markers = "sys_platform == 'linux'"}]
odd = 7
[[tool.uv.index]]
url = "https://download.pytorch.org/whl/cu124"
)",
                 "pyproject.toml", found);
  EXPECT_EQ(named(found, "torch")->group, "");
  EXPECT_EQ(named(found, "torch")->line, 3);
  EXPECT_TRUE(named(found, "triton")->skipped_on_mac);
  EXPECT_EQ(named(found, "flash-attn")->group, "gpu");
  EXPECT_EQ(named(found, "pytest")->group, "test");
  EXPECT_EQ(named(found, "apex")->group, "optional");
  EXPECT_EQ(named(found, "apex")->origin, "https://git.example.org/NVIDIA/apex.git");
  EXPECT_TRUE(named(found, "cupy-cuda12x")->skipped_on_mac);
  EXPECT_EQ(named(found, "python"), nullptr);
  ASSERT_EQ(found.signals.size(), 1u);
  EXPECT_EQ(found.signals[0].id, "cuda-index");
  EXPECT_FALSE(gap_about(found.gaps, "pyproject.toml:12").empty()) << "odd = 7";
}

TEST(Pyproject, BrokenTomlIsAGap) {
  RequirementFindings found;
  read_pyproject("[project\ndependencies = [", "pyproject.toml", found);
  EXPECT_NE(gap_about(found.gaps, "pyproject.toml").find("not valid TOML"), std::string::npos);
  RequirementFindings shapes;
  read_pyproject("project = 3\n[tool]\npoetry = [1]\nuv = 'x'\n", "pyproject.toml", shapes);
  EXPECT_TRUE(shapes.requirements.empty());
}

TEST(Conda, ListsAndPipInside) {
  RequirementFindings found;
  read_conda("name: x\nchannels:\n  - nvidia\n  - pytorch\ndependencies:\n  - python=3.11\n  - pytorch::pytorch=2.3=cuda_0\n  - \"cudatoolkit=11.8\" # old\n"
             "  - pip:\n    - flash-attn==2.5\n    - --extra-index-url https://download.pytorch.org/whl/cu121\n  - numpy >=1.26\nvariables:\n  - nothing\n",
             "environment.yml", found);
  EXPECT_EQ(found.requirements.size(), 4u);
  EXPECT_EQ(named(found, "pytorch")->specifier, "=2.3=cuda_0");
  EXPECT_EQ(named(found, "cudatoolkit")->line, 8);
  EXPECT_EQ(named(found, "flash-attn")->specifier, "==2.5");
  EXPECT_EQ(named(found, "numpy")->reader, "conda");
  EXPECT_EQ(found.signals.size(), 2u) << "the channel and the index";
}

TEST(SetupCfg, ListsByLine) {
  RequirementFindings found;
  read_setup_cfg("[metadata]\nname = x\n[options]\ninstall_requires =\n    torch>=2,<3\n    triton; sys_platform == 'linux'\n[options.extras_require]\ngpu =\n  cupy\n",
                 "setup.cfg", found);
  ASSERT_EQ(found.requirements.size(), 3u);
  EXPECT_EQ(named(found, "torch")->specifier, ">=2,<3");
  EXPECT_TRUE(named(found, "triton")->skipped_on_mac);
  EXPECT_EQ(named(found, "cupy")->group, "gpu");
}

TEST(SetupPy, LiteralListsOnly) {
  Project project;
  project.file("setup.py", "from setuptools import setup\nraise SystemExit('never run')\nsetup(install_requires=['torch', 'apex'], extras_require=open('x').read())\n");
  const Survey survey = project.survey({"setup.py"});
  ASSERT_EQ(survey.requirements.size(), 2u);
  EXPECT_EQ(survey.requirements[1].reader, "setup.py");
  EXPECT_EQ(survey.requirements[1].line, 3);
  EXPECT_NE(gap_about(survey.not_surveyed, "setup.py:3").find("extras_require is computed"), std::string::npos);
}

} // namespace
} // namespace remotemac::survey
