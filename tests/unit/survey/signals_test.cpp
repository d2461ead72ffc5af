// Constructs in sources, one small program per case: what must be found on which line, and what must not.
#include "cli/survey/signals.h"
#include "tests/unit/survey/project_fixture.h"

namespace remotemac::survey {
namespace {

struct Case {
  std::string code;
  std::vector<std::string> wanted; // ids, in order of lines
};

std::vector<std::string> ids_of(const std::string& code) {
  Project project;
  project.file("main.py", code);
  return ids(project.survey());
}

TEST(SourceSignals, EachConstruct) {
  const std::vector<Case> cases = {
      {"m.cuda()\n", {"cuda-call"}},
      {"m.to('cuda:1')\n", {"cuda-device"}},
      {"m.to(0)\n", {"device-index"}},
      {"d = f'cuda:{rank}'\n", {"cuda-device"}},
      {"import torch as th\nth.zeros(2, device='cuda')\n", {"cuda-device"}},
      {"from torch import device as dev\ndev('cuda')\n", {"cuda-device"}},
      {"def f(device='cuda'): pass\n", {"cuda-default"}},
      {"p.add_argument('--device', default='cuda', choices=['cpu', 'cuda'])\n", {"cuda-default"}},
      {"import torch\ntorch.cuda.synchronize()\n", {"cuda-api"}},
      {"import torch\ntorch.cuda.empty_cache()\n", {"cuda-no-op"}},
      {"from torch import cuda\ncuda.Event()\n", {"cuda-api"}},
      {"import torch\nassert torch.cuda.is_available()\n", {"cuda-required"}},
      {"import sys, torch\nif not torch.cuda.is_available():\n    sys.exit(1)\n", {"cuda-required"}},
      {"import torch\nx.to(torch.float64)\ny.double()\nz = torch.zeros(1, dtype=torch.double)\n", {"float64", "float64", "float64"}},
      {"import torch\nx = torch.zeros(1, dtype=torch.complex128)\n", {"complex128"}},
      {"import torch\ntorch.load('x.pt')\ntorch.load('x.pt', map_location='cuda')\ntorch.load('x.pt', 'cpu')\n", {"load-without-map-location", "map-location-cuda"}},
      {"import torch.distributed as dist\ndist.init_process_group('nccl')\n", {"nccl"}},
      {"from torch.nn.parallel import DistributedDataParallel as DDP\nDDP(m)\n", {"multi-gpu"}},
      {"from torch.cuda.amp import autocast, GradScaler\nwith autocast(): pass\nGradScaler()\n", {"autocast-cuda", "grad-scaler"}},
      {"import torch\nwith torch.autocast('cuda'): pass\n", {"autocast-cuda"}},
      {"import torch\ntorch.backends.cudnn.benchmark = True\n", {"cudnn"}},
      {"import torch\n@torch.compile\ndef f(): pass\n", {"torch-compile"}},
      {"import torch\nx.to(memory_format=torch.channels_last)\nx.to(d, non_blocking=True)\n", {"channels-last", "non-blocking"}},
      {"DataLoader(x, pin_memory=True)\n", {"pin-memory"}},
      {"import torch\nx.half()\ny.to(torch.bfloat16)\n", {"half", "bfloat16"}},
      {"import torch\ng = torch.cuda.CUDAGraph()\n", {"cuda-graph"}},
      {"import torch\nx.to_sparse()\ntorch.sparse.mm(a, b)\n", {"sparse", "sparse"}},
      {"import triton\n@triton.jit\ndef kernel(): pass\n", {"cuda-kernel"}},
      {"from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('x', ['x.cu'])\n", {"cuda-extension"}},
      {"from torch.utils.cpp_extension import load\nload('x', ['x.cpp', 'y.cu'])\n", {"cuda-extension"}},
      {"f(attn_implementation='flash_attention_2', load_in_4bit=True)\n", {"quantised-load", "flash-attention-flag"}},
      {"import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", {"cuda-environment"}},
      {"import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'\n", {"mps-fallback-on"}},
      {"import subprocess\nsubprocess.run(['nvidia-smi'])\n", {"nvidia-smi"}},
      {"if x.is_cuda and y: pass\n", {"cuda-guard"}},
  };
  for (const Case& each : cases) {
    std::vector<std::string> wanted = each.wanted;
    std::vector<std::string> found = ids_of(each.code);
    std::ranges::sort(wanted);
    std::ranges::sort(found);
    EXPECT_EQ(found, wanted) << each.code;
  }
}

TEST(SourceSignals, EveryFormOfCudaElseCpu) {
  const std::string available = "torch.cuda.is_available()";
  for (const std::string& code : {
           "d = 'cuda' if " + available + " else 'cpu'\n",
           "d = torch.device('cuda:0' if " + available + " else 'cpu')\n",
           "d = 'cpu' if not " + available + " else 'cuda'\n",
           "d = " + available + " and 'cuda' or 'cpu'\n",
           "if " + available + ":\n    d = 'cuda'\nelse:\n    d = 'cpu'\n",
           "if " + available + ":\n    model.cuda()\n",
           "use = " + available + "\nd = 'cuda' if use else 'cpu'\n",
           std::string("class A:\n    def f(self):\n        d = f'cuda:{1}' if torch.cuda.device_count() > 1 else 'cpu'\n"),
       }) {
    Project project;
    project.file("main.py", "import torch\n" + code);
    const Survey survey = project.survey();
    EXPECT_EQ(std::ranges::count(ids(survey), "cuda-else-cpu"), 1) << code;
    for (const SurveySignal& signal : survey.signals)
      if (signal.id != "cuda-else-cpu") {
        EXPECT_TRUE(signal.guarded || signal.severity == Severity::note) << code << signal.id;
      }
  }
}

TEST(SourceSignals, ABranchForMpsIsSeen) {
  for (const char* code : {
           "def pick():\n    if torch.backends.mps.is_available():\n        return 'mps'\n    return 'cuda' if torch.cuda.is_available() else 'cpu'\n",
           "d = 'cuda' if torch.cuda.is_available() else 'mps' if torch.backends.mps.is_available() else 'cpu'\n",
           "if torch.cuda.is_available():\n    d = 'cuda'\nelif torch.backends.mps.is_available():\n    d = 'mps'\n",
       }) {
    Project project;
    project.file("main.py", std::string("import torch\n") + code);
    for (const SurveySignal& signal : project.survey().signals)
      EXPECT_EQ(signal.severity, Severity::note) << code << signal.id;
  }
  Project other; // mps in another function does not excuse this one
  other.file("main.py", "import torch\ndef a():\n    return 'mps'\ndef b():\n    return 'cuda' if torch.cuda.is_available() else 'cpu'\nb()\n");
  EXPECT_NE(signal_at(other.survey(), "cuda-else-cpu", "main.py", 5), nullptr);
}

TEST(SourceSignals, WhatIsNoSignal) {
  for (const char* code : {"'''Use cuda here: .cuda()'''\n# m.cuda()\n", "name = 'cudart'\n", "x = 'barracuda'\n", "import torch\nm.to('cpu')\n", "x.double_click()\n",
                           "from mine import cuda\n", "import torch\nmodel.eval()\n"})
    EXPECT_TRUE(ids_of(code).empty()) << code << ids_of(code)[0];
}

TEST(SourceSignals, GuardsAndReachOfThePlace) {
  Project project;
  project.file("main.py", "import torch\nif torch.cuda.is_available():\n    torch.cuda.synchronize()\ndef never():\n    x.cuda()\ndef used():\n    y.cuda()\nused()\n")
      .file("aside.py", "z.cuda()\n");
  const Survey survey = project.survey();
  const SurveySignal* guarded = signal_at(survey, "cuda-api", "main.py", 3);
  ASSERT_NE(guarded, nullptr);
  EXPECT_TRUE(guarded->guarded);
  EXPECT_EQ(guarded->severity, Severity::note);
  EXPECT_EQ(signal_at(survey, "cuda-call", "main.py", 5)->reach, Reach::maybe);
  EXPECT_EQ(signal_at(survey, "cuda-call", "main.py", 7)->reach, Reach::reached);
  EXPECT_EQ(signal_at(survey, "cuda-call", "aside.py", 1)->reach, Reach::not_reached);
}

TEST(SourceSignals, FlagsNeedThePackageBehindThem) {
  Project project;
  project.file("main.py", "import torch\nload(attn_implementation='flash_attention_2')\n");
  const Survey survey = project.survey();
  ASSERT_NE(package_named(survey, "flash-attn"), nullptr);
  EXPECT_EQ(package_named(survey, "flash-attn")->need, Need::needed);
}

TEST(SourceSignals, ValuesOfTheProjectStayOut) {
  Project project;
  project.file("main.py", "import torch\ntoken = 'hunter2'\nm.to('cuda', 'hunter2')\ntorch.load('hunter2')\n'hunter2'.x.cuda()\n");
  for (const SurveySignal& signal : project.survey().signals)
    EXPECT_EQ((signal.construct + signal.effect + signal.instead).find("hunter2"), std::string::npos);
}

TEST(TextSignals, FilesAroundTheSources) {
  Project project;
  project.file("main.py", "")
      .file("ops/kernel.cu", "__global__ void k() {}\n")
      .file("Dockerfile", "# FROM nvidia/cuda\nFROM nvidia/cuda:12.1-devel\nRUN pip install --index-url https://download.pytorch.org/whl/cu121 torch\n")
      .file("run.sh", "#!/bin/sh\n#SBATCH --gres=gpu:1\nexport PYTORCH_ENABLE_MPS_FALLBACK=1\nnvidia-smi\n");
  const Survey survey = project.survey();
  EXPECT_NE(signal_at(survey, "cuda-source", "ops/kernel.cu", 1), nullptr);
  EXPECT_NE(signal_at(survey, "cuda-container", "Dockerfile", 2), nullptr);
  EXPECT_EQ(signal_at(survey, "cuda-container", "Dockerfile", 1), nullptr);
  EXPECT_NE(signal_at(survey, "cuda-index", "Dockerfile", 3), nullptr);
  EXPECT_NE(signal_at(survey, "cuda-environment", "run.sh", 2), nullptr);
  EXPECT_NE(signal_at(survey, "mps-fallback-on", "run.sh", 3), nullptr);
  EXPECT_NE(signal_at(survey, "nvidia-smi", "run.sh", 4), nullptr);
}

} // namespace
} // namespace remotemac::survey
