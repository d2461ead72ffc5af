// From the command to the places that it reaches.
#include "tests/unit/survey/project_fixture.h"

namespace remotemac::survey {
namespace {

TEST(Reach, FollowsImportsBetweenFiles) {
  Project project;
  project.file("main.py", "import package.deep\nfrom helpers import tool\nimport src_module\n")
      .file("package/__init__.py", "from . import sibling\n")
      .file("package/sibling.py", "import triton\n")
      .file("package/deep.py", "from ..package.cousin import x\n")
      .file("package/cousin.py", "x = 1\nimport cupy\n")
      .file("helpers/tool.py", "import xformers\n")
      .file("src/src_module.py", "import apex\n")
      .file("unused.py", "import flash_attn\n");
  const Survey survey = project.survey();
  EXPECT_TRUE(survey.entry.resolved);
  EXPECT_EQ(survey.counts.python_files, 8u);
  EXPECT_EQ(survey.counts.parsed, 8u);
  EXPECT_EQ(survey.counts.reached, 7u);
  for (const char* name : {"triton", "cupy", "xformers", "apex"}) {
    ASSERT_NE(package_named(survey, name), nullptr) << name;
    EXPECT_EQ(package_named(survey, name)->need, Need::needed) << name;
  }
  ASSERT_NE(package_named(survey, "flash-attn"), nullptr);
  EXPECT_EQ(package_named(survey, "flash-attn")->need, Need::unused);
  EXPECT_EQ(survey.effort, Effort::days);
}

TEST(Reach, HowAnImportIsWrittenDecidesTheNeed) {
  Project project;
  project.file("main.py", R"(import typing
import torch
try:
    import flash_attn
except ImportError:
    flash_attn = None
if typing.TYPE_CHECKING:
    import triton
if torch.cuda.is_available():
    import cupy
def uncalled_function():
    import xformers
def called():
    import apex
if __name__ == "__main__":
    import deepspeed
    called()
)");
  const Survey survey = project.survey();
  const auto need = [&](std::string_view name) { return package_named(survey, name)->need; };
  EXPECT_EQ(need("flash-attn"), Need::optional);
  EXPECT_EQ(need("triton"), Need::unused);
  EXPECT_EQ(need("cupy"), Need::unused);
  EXPECT_EQ(need("xformers"), Need::optional);
  EXPECT_EQ(need("apex"), Need::needed);
  EXPECT_EQ(need("deepspeed"), Need::needed);
  EXPECT_EQ(module_named(survey, "cupy")->how, "cuda-guarded");
  EXPECT_EQ(module_named(survey, "typing"), nullptr) << "the standard library is no third party";
}

TEST(Reach, OwnModulesHidePackages) {
  Project project;
  project.file("main.py", "import apex\nimport triton\n").file("apex/__init__.py", "").file("triton/notes.py", "").file("requirements.txt", "triton\n");
  const Survey survey = project.survey();
  EXPECT_EQ(package_named(survey, "apex"), nullptr);
  ASSERT_NE(package_named(survey, "triton"), nullptr) << "a bare folder does not hide an installed package";
  EXPECT_EQ(package_named(survey, "triton")->need, Need::needed);
}

TEST(Reach, ComputedImportsMakeTheRestPossible) {
  Project project;
  project.file("main.py", "import importlib, sys\nimportlib.import_module('fixed')\nimportlib.import_module(sys.argv[1])\n")
      .file("fixed.py", "")
      .file("plugin.py", "import triton\n");
  const Survey survey = project.survey();
  EXPECT_EQ(survey.counts.reached, 2u);
  EXPECT_EQ(module_named(survey, "triton")->reach, Reach::maybe);
  EXPECT_FALSE(gap_about(survey.not_surveyed, "main.py:3").empty());
}

TEST(Reach, DeclaredButNotImported) {
  Project project;
  project.file("main.py", "import torch\n").file("requirements.txt", "bitsandbytes\nonnxruntime-gpu\nfaiss-gpu; sys_platform != 'darwin'\n");
  const Survey survey = project.survey();
  EXPECT_EQ(package_named(survey, "bitsandbytes")->need, Need::unused);
  EXPECT_EQ(package_named(survey, "onnxruntime-gpu")->need, Need::needed) << "its import name is shared: the installation decides";
  EXPECT_EQ(package_named(survey, "faiss-gpu")->need, Need::unused) << "its marker leaves it out on a Mac";
}

TEST(Entry, Commands) {
  Project project;
  project.file("train.py", "import torch\n").file("pkg/__init__.py", "").file("pkg/__main__.py", "").file("tests/test_a.py", "").file("tests/help.py", "");
  const auto files = [&](const std::vector<std::string>& command) { return project.survey(command).entry.files; };
  using Files = std::vector<std::string>;
  EXPECT_EQ(files({"train.py", "--epochs", "3"}), Files{"train.py"});
  EXPECT_EQ(files({"python3", "-u", "./train.py"}), Files{"train.py"});
  EXPECT_EQ(files({"-W", "ignore", "-m", "pkg"}), Files{"pkg/__main__.py"});
  EXPECT_EQ(files({"-m", "train"}), Files{"train.py"});
  EXPECT_EQ(files({"-m", "torch.distributed.run", "--nproc_per_node", "2", "train.py"}), Files{"train.py"});
  EXPECT_EQ(files({"-m", "pytest", "tests"}), Files{"tests/test_a.py"});
  EXPECT_EQ(files({"pkg"}), Files{"pkg/__main__.py"});
}

TEST(Entry, UnresolvedMeansUnknownEverywhere) {
  Project project;
  project.file("train.py", "import triton\nx.cuda()\n");
  for (const std::vector<std::string>& command : {std::vector<std::string>{}, {"../train.py"}, {"gone.py"}, {"-c", "import train"}, {"-m", "nothing"}, {"-m"}}) {
    const Survey survey = project.survey(command);
    EXPECT_FALSE(survey.entry.resolved);
    EXPECT_FALSE(survey.entry.note.empty());
    EXPECT_FALSE(gap_about(survey.not_surveyed, "entry command").empty());
    EXPECT_EQ(package_named(survey, "triton")->need, Need::unknown);
    EXPECT_EQ(signal_at(survey, "cuda-call", "train.py", 2)->reach, Reach::unknown);
    EXPECT_EQ(survey.effort, Effort::minutes) << "what may be reached is not waved through";
  }
}

} // namespace
} // namespace remotemac::survey
