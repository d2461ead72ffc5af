#include "cli/survey/signals.h"

namespace remotemac::survey {
namespace {
constexpr const char* k_pick = "torch.device(\"mps\" if torch.backends.mps.is_available() else \"cuda\" if torch.cuda.is_available() else \"cpu\")";
constexpr const char* k_no_cuda = "on a Mac it raises: torch there is not compiled with CUDA";

constexpr KnownSignal k_signals[] = {
    // Where the computation goes
    {"cuda-else-cpu", Severity::fix, "there is no CUDA on a Mac, so this silently picks the CPU: the run succeeds, slowly, and says nothing about MPS", k_pick},
    {"cuda-required", Severity::fix, "the program leaves on a Mac, where there is no CUDA", "accept torch.backends.mps.is_available() as well"},
    {"cuda-guard", Severity::note, "skipped on a Mac, and nothing takes its place", "add a branch for torch.backends.mps.is_available() if the block matters"},
    {"cuda-call", Severity::fix, k_no_cuda, ".to(device) with a device that is picked once"},
    {"cuda-device", Severity::fix, k_no_cuda, k_pick},
    {"cuda-default", Severity::risk, "a default of CUDA raises on a Mac unless the command says otherwise", "default=None, and pick the device at run time"},
    {"cuda-compare", Severity::risk, "never true on a Mac: whatever hangs on it is skipped or done the other way", "compare with \"cpu\", or list \"mps\" too"},
    {"device-index", Severity::fix, "a bare number means a CUDA device; on a Mac it raises", k_pick},
    {"map-location-cuda", Severity::fix, k_no_cuda, "torch.load(..., map_location=device) or map_location=\"cpu\""},
    {"load-without-map-location", Severity::risk, "a checkpoint written on CUDA cannot be loaded on a Mac without map_location", "torch.load(..., map_location=\"cpu\"), then .to(device)"},
    // torch.cuda
    {"cuda-api", Severity::fix, k_no_cuda, "the function of the same purpose in torch.mps (synchronize, empty_cache, ...), or a guard"},
    {"cuda-no-op", Severity::note, "does nothing or answers 0 on a Mac", "torch.mps has empty_cache, manual_seed, current_allocated_memory, device_count"},
    {"cuda-tensor-type", Severity::fix, k_no_cuda, "a dtype and a device: torch.zeros(..., dtype=torch.float32, device=device)"},
    {"cuda-graph", Severity::fix, "CUDA graphs do not exist on MPS", "run the step directly"},
    {"cudnn", Severity::note, "has no effect on MPS; the settings change only the CUDA baseline that the Mac is compared with", "nothing; note the settings of the baseline"},
    {"matmul-precision", Severity::note, "TF32 is a setting of CUDA: it changes the baseline, not MPS", "nothing; note the setting of the baseline"},
    {"autocast-cuda", Severity::risk, "on a Mac this only warns and switches mixed precision off", "torch.autocast(device_type=device.type, dtype=torch.float16)"},
    {"grad-scaler", Severity::risk, "scaling for CUDA is switched off on a Mac; scaling on MPS had defects in several versions", "torch.amp.GradScaler(device.type), or bfloat16 without a scaler"},
    {"profiler-cuda", Severity::note, "there is no CUDA activity to record", "torch.mps.profiler"},
    {"cuda-environment", Severity::note, "means nothing on a Mac", "nothing"},
    {"nvidia-smi", Severity::fix, "there is no such program on a Mac", "torch.mps.driver_allocated_memory(), or leave it out"},
    // Numbers
    {"float64", Severity::fix, "MPS has no float64: it raises as soon as such a tensor is on the device", "float32 on MPS, or keep this part on the CPU with .cpu()"},
    {"numpy-float64", Severity::note, "harmless in numpy; raises when the array becomes a tensor on MPS", ".astype(\"float32\") before the tensor is made"},
    {"from-numpy", Severity::note, "numpy's float64 stays float64, which MPS does not have", "torch.from_numpy(array).float() before .to(device)"},
    {"complex128", Severity::fix, "MPS has no complex128 (it is made of float64)", "torch.complex64, or the CPU"},
    {"complex", Severity::risk, "only part of the operations on complex numbers exist on MPS", "try it in the strict run; the CPU for what is missing"},
    {"half", Severity::note, "float16 works on MPS; its results differ more than those of float32", "compare with tolerances for float16"},
    {"bfloat16", Severity::risk, "needs macOS 14 or newer", "float16 or float32 on older systems"},
    {"sparse", Severity::risk, "few sparse operations exist on MPS", "dense tensors, or the CPU for this part"},
    {"nested", Severity::risk, "nested tensors are mostly missing on MPS", "padded tensors with a mask"},
    {"quantization", Severity::risk, "the quantised operations are made for the CPU, not for MPS", "torchao, or the CPU"},
    {"mkldnn", Severity::risk, "for Intel CPUs only", "leave it out on a Mac"},
    {"channels-last", Severity::risk, "several MPS operations gave wrong results with this layout", "the default layout on MPS"},
    {"non-blocking", Severity::risk, "on MPS such a copy may be read before it is finished: wrong values", "non_blocking only where the device is CUDA"},
    {"pin-memory", Severity::note, "older versions of torch warn or raise under MPS, and it brings nothing there", "pin_memory=device.type == \"cuda\""},
    {"deterministic", Severity::note, "MPS has no deterministic version of some operations", "read the warnings of the strict run"},
    // Compiling, extensions, several GPUs
    {"torch-compile", Severity::risk, "compiling for MPS is an early prototype", "run without torch.compile on a Mac"},
    {"cuda-extension", Severity::blocks, "needs nvcc and CUDA, neither of which exists on a Mac", "a version in plain torch, or torch.mps.compile_shader"},
    {"cuda-kernel", Severity::blocks, "a kernel written for NVIDIA GPUs", "the computation in plain torch, or torch.mps.compile_shader"},
    {"cuda-source", Severity::risk, "CUDA source: nothing on a Mac compiles it", "a version in plain torch for what uses it"},
    {"native-extension", Severity::risk, "a compiled extension must be built on the Mac, and has no MPS kernels of its own", "build it there; keep its tensors on the CPU"},
    {"nccl", Severity::fix, "NCCL exists only for CUDA", "run on one device without init_process_group"},
    {"multi-gpu", Severity::risk, "a Mac has one GPU, and torch.distributed does not take MPS tensors", "the bare model on one device"},
    {"flash-attention-flag", Severity::fix, "needs flash-attn, which is CUDA only", "attn_implementation=\"sdpa\"", "flash-attn"},
    {"quantised-load", Severity::fix, "needs bitsandbytes with CUDA, or a very recent version of it", "load in float16, or quantise with torchao", "bitsandbytes"},
    // Files around the sources
    {"cuda-wheel", Severity::fix, "a version with +cu exists only for CUDA", "the same version without the part that begins with +"},
    {"cuda-index", Severity::fix, "this package index has wheels for CUDA only", "leave the index out on macOS; the default one has the Mac wheels"},
    {"cuda-container", Severity::risk, "containers on a Mac have no GPU at all", "run outside of the container"},
    {"mps-fallback-on", Severity::risk, "hides that operations run on the CPU", "leave it to remotemac, which runs both ways"},
    {"mps-watermark", Severity::risk, "0.0 takes away the limit that protects the machine from running out of memory", "leave it at its default"},
};
} // namespace

std::span<const KnownSignal> known_signals() { return k_signals; }

const KnownSignal* known_signal(std::string_view id) {
  for (const KnownSignal& known : k_signals)
    if (known.id == id)
      return &known;
  return nullptr;
}

SurveySignal make_signal(const KnownSignal& known, std::string file, int line, std::string construct, Reach reach, bool guarded) {
  SurveySignal out;
  out.id = known.id;
  out.severity = guarded ? Severity::note : known.severity;
  out.file = std::move(file);
  out.line = line;
  out.construct = std::move(construct);
  out.reach = reach;
  out.guarded = guarded;
  out.effect = known.effect;
  out.instead = known.instead;
  return out;
}

} // namespace remotemac::survey
