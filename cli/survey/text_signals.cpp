#include "cli/survey/text_signals.h"

#include "cli/survey/requirement_files.h"
#include "cli/survey/signals.h"
#include "common/text.h"

#include <array>

namespace remotemac::survey {
namespace {
struct Word {
  std::string_view text; // in lower case
  std::string_view id;
  std::string_view construct;
};
constexpr std::array<Word, 9> k_words = {{
    {"nvidia-smi", "nvidia-smi", "nvidia-smi"},
    {"cuda_visible_devices", "cuda-environment", "CUDA_VISIBLE_DEVICES"},
    {"--gpus", "cuda-container", "--gpus"},
    {"--gres=gpu", "cuda-environment", "--gres=gpu"},
    {"nvcc ", "cuda-extension", "nvcc"},
    {"pytorch_enable_mps_fallback=1", "mps-fallback-on", "PYTORCH_ENABLE_MPS_FALLBACK=1"},
    {"pytorch_mps_high_watermark_ratio=0.0", "mps-watermark", "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0"},
    {"--nproc_per_node", "multi-gpu", "--nproc_per_node"},
    {"--nproc-per-node", "multi-gpu", "--nproc-per-node"},
}};

// Whether the entry command uses these files cannot be told from imports.
void add(std::vector<SurveySignal>& out, std::string_view id, const std::string& file, int line, std::string_view construct) {
  if (const KnownSignal* known = known_signal(id))
    out.push_back(make_signal(*known, file, line, std::string(construct), Reach::maybe, false));
}

void scan(const std::string& text, const std::string& file, bool container, std::vector<SurveySignal>& out) {
  int number = 0;
  for (const std::string& raw : split(text, '\n')) {
    ++number;
    const std::string line = to_lower_ascii(trim(raw));
    const bool directive = line.starts_with("#sbatch") || line.starts_with("#pbs");
    if (line.empty() || (line.front() == '#' && !directive))
      continue;
    if (container && line.starts_with("from ") && (line.find("nvidia") != std::string::npos || line.find("cuda") != std::string::npos))
      add(out, "cuda-container", file, number, "FROM an image with CUDA");
    for (const Word& word : k_words)
      if (line.find(word.text) != std::string::npos)
        add(out, word.id, file, number, word.construct);
    if (line.find("index-url") != std::string::npos && is_cuda_index(line))
      add(out, "cuda-index", file, number, "a package index for CUDA");
  }
}
} // namespace

std::vector<SurveySignal> text_signals(const ProjectFiles& files, std::vector<SurveyGap>& gaps) {
  std::vector<SurveySignal> out;
  for (const auto& [path, size] : files.all()) {
    const std::string_view base = base_of(path);
    const bool container = base.starts_with("Dockerfile") || base.ends_with(".dockerfile") || base.starts_with("Containerfile") ||
                           base.starts_with("docker-compose");
    if (base.ends_with(".cu") || base.ends_with(".cuh"))
      add(out, "cuda-source", path, 1, "a CUDA source file");
    else if (container || base.ends_with(".sh") || base.ends_with(".sbatch") || base.ends_with(".slurm") || base == "Makefile")
      scan(files.read(path, gaps), path, container, out);
  }
  return out;
}

} // namespace remotemac::survey
