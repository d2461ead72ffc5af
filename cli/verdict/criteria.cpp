#include "cli/verdict/criteria.h"

#include <algorithm>
#include <cstdio>

namespace remotemac::verdict {
namespace {

constexpr CriterionRow k_criteria[] = {
    {"C1", "macOS, chip, Python and PyTorch versions recorded and inside the supported range"},
    {"C2", "dependencies surveyed; CUDA-only ones marked, used or not, with alternatives"},
    {"C3", "MPS built, available and usable in the project's own environment"},
    {"C4", "a representative training or inference step ran on MPS"},
    {"C5", "device placement proven; no silent CPU run"},
    {"C6", "every operation accounted for: native, fallback, unsupported"},
    {"C7", "central outputs compared with the CUDA reference"},
    {"C8", "conditions recorded on both sides, and alike"},
    {"C9", "run time judged on the project's own workload"},
    {"C10", "data policy met; every transfer recorded; retention agreed"},
    {"C11", "numerics of the operations the project uses verified on this machine"},
    {"C12", "memory fits, no growth"},
};

constexpr Class cuda = Class::cuda_required;
constexpr Class dev = Class::development_and_test;
constexpr Ground shown = Ground::shown_not_to_work;
constexpr Ground not_shown = Ground::not_sufficiently_shown;
constexpr Ground none = Ground::none;

constexpr CauseRow k_causes[] = {
    {"float64", cuda, shown, "the project needs float64, which MPS does not have",
     "use float32 where the result allows it, else keep this task on CUDA"},
    {"unsupported", cuda, shown, "the project needs an operation that the device does not have",
     "replace the operation named under obstacles, else keep this task on CUDA"},
    {"cuda-package", cuda, shown, "the project needs a package that exists for CUDA only",
     "replace the package named under obstacles, else keep this task on CUDA"},
    {"backend-unusable", cuda, not_shown, "MPS is not usable in the project's environment",
     "look at the steps of the backend check, and at the host: remotemac doctor"},
    {"silent-cpu", cuda, not_shown, "the run ended well without one operation on the device",
     "let the project choose mps where torch.backends.mps.is_available(), then run again"},
    {"run-failed", cuda, not_shown, "the project's command did not end well on the device",
     "read the messages of the run (remotemac logs), correct the project or its requirements, then run again"},
    {"run-missing", cuda, not_shown, "no mini-run left a document",
     "look at what ended the steps (remotemac logs), then run again"},
    {"extensions-open", cuda, not_shown, "it is not shown that the project does without its CUDA extensions",
     "replace or remove the packages named under obstacles, then run again"},
    {"simulated", dev, none, "the backend is simulated",
     "run the same on a real Apple Silicon Mac: remotemac host add, then remotemac run --host"},
    {"simulation-unknown", dev, none, "it is not shown that the backend is a real one",
     "run again with the same version of remotemac on both sides"},
    {"virtual-machine", dev, none, "the Mac is a virtual machine", "run again on a physical Mac"},
    {"hardware-unknown", dev, none, "what machine it was is not fully recorded",
     "run again; remotemac doctor shows what the host reports about itself"},
    {"not-a-mac", dev, none, "the host is not an Apple Silicon Mac with macOS", "run again on an Apple Silicon Mac"},
    {"versions-old", dev, none, "a version is outside the supported range", "update what is named under C1, then run again"},
    {"outputs-differ", dev, none, "outputs differ from the reference",
     "find out why before any result from the Mac counts; declare a tolerance only with a reason"},
    {"numerics-wrong", dev, none, "an operation that the project uses gives wrong results on this machine",
     "update macOS or torch, or avoid the case named under C11; then run again"},
    {"fallback", dev, none, "operations fall back to the CPU",
     "replace the operations named under obstacles, or keep the runs that count on CUDA"},
    {"strict-failed", dev, none, "the run works only with fallback allowed",
     "look at what ended the strict run: remotemac logs --step strict"},
    {"strict-missing", dev, none, "the run without fallback left no document", "run again"},
    {"permissive-missing", dev, none, "the run that names every fallback did not end well",
     "look at what ended it (remotemac logs --step permissive), then run again"},
    {"refused-and-caught", dev, none, "the device refused operations and the project went on another way",
     "see the places named under obstacles, and that the other way is the wanted one"},
    {"mixed-devices", dev, none, "a part of the model or most of the work stayed on the CPU",
     "move model and inputs to the device, then run again"},
    {"operations-not-listed", dev, none, "not every operation of the run is accounted for",
     "run again without torch.compile and with the harness's own document kept"},
    {"outputs-missing", dev, none, "the run did not leave every declared output",
     "correct the names in remotemac.toml or the project, then run again"},
    {"job-missing", dev, none, "the job is not recorded as complete", "run again"},
    {"no-reference", dev, none, "there is no usable reference run", "make one where the CUDA GPU is: remotemac reference"},
    {"cpu-reference", dev, none, "the reference is CPU, not CUDA",
     "run remotemac on the machine with the CUDA GPU, so that the reference is made there"},
    {"conditions-unlike", dev, none, "the conditions of run and reference are not alike",
     "make the conditions named under C8 alike, then run again"},
    {"conditions-unknown", dev, none, "it is not shown that the conditions of run and reference are alike",
     "set the seeds and what else C8 names, on both sides; then run again"},
    {"not-compared", dev, none, "central outputs were not compared",
     "declare the central outputs in remotemac.toml (run.outputs), then run again"},
    {"battery-incomplete", dev, none, "the machine's numerics are not fully checked",
     "install a worker for the project's torch version (remotemac doctor), then run again"},
    {"replay-incomplete", dev, none, "not every operation of the project was replayed on this machine",
     "make a reference that records the operations (remotemac reference), then run again"},
    {"survey-missing", dev, none, "the project's dependencies were not fully surveyed",
     "see what could not be read under C2, then run again"},
    {"packages-open", dev, none, "packages for CUDA are not shown to be dispensable",
     "replace the packages named under obstacles"},
    {"sources-open", dev, none, "sources that cannot work on a Mac lie on the way of the command",
     "replace the places named under obstacles"},
    {"backend-unchecked", dev, none, "the backend check did not show a usable device",
     "run again; remotemac doctor shows what is missing"},
    {"time-missing", dev, none, "the run time was not measured", "run again"},
    {"scale-reduced", dev, none, "a long training was judged from a reduced run",
     "run with the model and the inputs of the real task, and say so: [project] scale = \"real\""},
    {"memory-too-small", dev, none, "the run nearly fills the machine's memory", "use a Mac with more memory or smaller batches"},
    {"memory-grows", dev, none, "memory grows from step to step", "find what is kept alive between steps, then run again"},
    {"memory-unknown", dev, none, "memory was not measured", "run again with more steps"},
    {"gate-missing", dev, none, "the data policy's decision is not recorded", "run again: remotemac plan shows the decision"},
    {"gate-refused", dev, none, "the data policy refuses files of the project",
     "see remotemac plan, and declare or exclude what it names"},
    {"transfer-open", dev, none, "the transfer is not recorded as allowed beforehand",
     "run again; remotemac audit shows what was recorded"},
    {"retention-open", dev, none, "it is not agreed how long the host keeps the data",
     "set a retention in remotemac.toml or the host's record, then run again"},
};

} // namespace

std::span<const CriterionRow> criteria_table() {
  return k_criteria;
}
std::span<const CauseRow> causes_table() {
  return k_causes;
}

const CauseRow& cause(std::string_view id) {
  const auto* row = std::ranges::find(k_causes, id, &CauseRow::id);
  // A slip in an id must not look like a good verdict.
  return row == std::end(k_causes) ? *std::ranges::find(k_causes, std::string_view("run-failed"), &CauseRow::id) : *row;
}

Sheet::Sheet(std::string_view id) {
  const auto* row = std::ranges::find(k_criteria, id, &CriterionRow::id);
  m_criterion.id = row->id;
  m_criterion.title = row->title;
}

void Sheet::limit(std::string_view cause_id, Status status, std::string text) {
  const CauseRow& row = cause(cause_id);
  add({std::move(text), status, row.allows, row.id, false});
}

void Sheet::add(Line line) {
  const auto rank = [](Status status) { return status == Status::not_applicable ? -1 : static_cast<int>(status); };
  if (rank(line.status) > rank(m_criterion.status))
    m_criterion.status = line.status;
  while (line.text.ends_with("..") && !line.text.ends_with("...")) // a quoted message may end its own sentence
    line.text.pop_back();
  m_criterion.allows = std::min(m_criterion.allows, line.allows);
  m_criterion.lines.push_back(std::move(line));
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

std::string percent(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, share < 0.1 ? "%.1f %%" : "%.0f %%", share * 100);
  return buffer;
}

std::string place(std::string_view file, int line) {
  if (file.empty())
    return {};
  return line > 0 ? std::string(file) + ":" + std::to_string(line) : std::string(file);
}

std::string at_place(std::string_view file, int line) {
  const std::string where = place(file, line);
  return where.empty() ? where : " (" + where + ")";
}

} // namespace remotemac::verdict
