// C9 run time, C10 policy, C12 memory.
#include "cli/verdict/criteria.h"
#include "cli/verdict/judges.h"
#include "common/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace remotemac::verdict {
namespace {

constexpr double k_memory_share = 0.9; // of the machine's memory: above, macOS swaps and the watermark of MPS refuses
constexpr double k_growth_share = 0.05;
constexpr double k_growth_bytes = 1e6; // allocators round; less is no growth

bool is_long_training(const Facts& facts) {
  return facts.evidence.project.purpose == "long-training";
}

std::string times(double ratio) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", ratio);
  return buffer;
}

void compare_time(Sheet& sheet, const Facts& facts, const TimingFacts& timing) {
  if (!facts.reference_usable)
    return;
  const TimingFacts& other = facts.evidence.reference->run->timing;
  const std::string where = facts.reference_cuda ? "CUDA" : "CPU";
  if (timing.step_median_s && other.step_median_s && *other.step_median_s > 0)
    sheet.note("A step takes " + times(*timing.step_median_s / *other.step_median_s) + " times as long as in the " + where +
               " reference (" + human_seconds(*other.step_median_s) + ").");
  else if (other.wall_s > 0)
    sheet.note("The run takes " + times(timing.wall_s / other.wall_s) + " times as long as the " + where + " reference (" +
               human_seconds(other.wall_s) + ").");
}

} // namespace

Criterion judge_time(const Facts& facts) {
  Sheet sheet("C9");
  if (!facts.works()) {
    sheet.limit(facts.failure, Status::not_shown, "No run came to its end on the device, so its time says nothing.");
    return std::move(sheet).take();
  }
  const TimingFacts& timing = facts.run->timing;
  if (timing.step_median_s && timing.steps > 0)
    sheet.pass("The median step takes " + human_seconds(*timing.step_median_s) + " (" + counted(timing.steps, "step", "steps") +
               "), the whole run " + human_seconds(timing.wall_s) + ", with the instruments on.");
  else if (timing.wall_s > 0 && !is_long_training(facts))
    sheet.pass("The whole run takes " + human_seconds(timing.wall_s) + ", with the instruments on; single steps were not timed.");
  else
    sheet.limit("time-missing", Status::not_shown, "The time per step was not measured.");
  if (is_long_training(facts) && facts.evidence.project.scale != "real")
    sheet.limit("scale-reduced", Status::not_shown, "The time of a long training cannot be told from a reduced run.");
  compare_time(sheet, facts, timing);
  if (facts.simulated)
    sheet.limit("simulated", Status::limited, "These times are of the simulated device.");
  return std::move(sheet).take();
}

Criterion judge_policy(const Facts& facts) {
  Sheet sheet("C10");
  const Evidence& e = facts.evidence;
  if (!e.gate) {
    sheet.limit("gate-missing", Status::not_shown, "The gate's decision is not recorded.");
  } else {
    const GateSummary& gate = *e.gate;
    if (gate.decision == "allowed" && gate.refused_files == 0)
      sheet.pass("The policy allows " + counted(gate.approved_files, "file", "files") + " (" + human_bytes(gate.approved_bytes) +
                 "); " + std::to_string(gate.excluded_files) + " excluded, " + std::to_string(gate.not_proposed_files) +
                 " not proposed.");
    else if (gate.decision == "allowed" || gate.decision == "refused")
      sheet.limit("gate-refused", Status::fail, "The policy refuses " + counted(gate.refused_files, "file", "files") + ".");
    else
      sheet.limit("gate-missing", Status::not_shown, "The gate's decision is not one that is known.");
    if (gate.retention_s > 0)
      sheet.pass("The host deletes the job after " + human_seconds(static_cast<double>(gate.retention_s)) + ".");
    else
      sheet.limit("retention-open", Status::not_shown, "No retention is recorded.");
  }
  if (!e.transfer)
    sheet.limit("transfer-open", Status::not_shown, "No transfer is recorded.");
  else if (!e.transfer->audited)
    sheet.limit("transfer-open", Status::fail,
                "It is not recorded that the transfer of " + human_bytes(e.transfer->bytes_sent) +
                    " was allowed before its first byte left.");
  else
    sheet.pass("Sent: " + human_bytes(e.transfer->bytes_sent) + " of " + human_bytes(e.transfer->bytes_total) + " in " +
               counted(e.transfer->files, "file", "files") + ", recorded before the first byte left.");
  if (e.host && e.host->disk_encryption == false)
    sheet.note("The host's disk is not encrypted.");
  if (e.job && !e.job->network.empty())
    sheet.note("The job's network was shut off by: " + e.job->network + ".");
  return std::move(sheet).take();
}

namespace {

void judge_growth(Sheet& sheet, const Facts& facts, const HarnessDocument& run, double peak) {
  const MemoryFacts& memory = run.memory;
  if (!memory.slope_bytes_per_step) {
    const bool no_steps = run.timing.steps == 0 && !is_long_training(facts);
    const std::string text = "Growth cannot be told: " + counted(run.timing.steps, "optimizer step", "optimizer steps") + ".";
    no_steps ? sheet.note(text) : sheet.limit("memory-unknown", Status::not_shown, text);
    return;
  }
  const double growth = *memory.slope_bytes_per_step * static_cast<double>(run.timing.steps);
  const std::string text = "Device memory changes by " + std::string(*memory.slope_bytes_per_step < 0 ? "-" : "") +
                           human_bytes(static_cast<std::uint64_t>(std::min(std::abs(*memory.slope_bytes_per_step), 1e18))) +
                           " a step over " + counted(run.timing.steps, "step", "steps");
  if (growth > std::max(k_growth_bytes, k_growth_share * peak))
    sheet.limit("memory-grows", Status::fail, text + ".");
  else
    sheet.pass(text + ", which is no growth.");
}

} // namespace

Criterion judge_memory(const Facts& facts) {
  Sheet sheet("C12");
  if (!facts.works()) {
    sheet.limit(facts.failure, Status::not_shown, "No run came to its end on the device, so its memory says nothing.");
    return std::move(sheet).take();
  }
  const HarnessDocument& run = *facts.run;
  const std::string_view unknown = facts.simulated ? "simulated" : "memory-unknown";
  const std::optional<std::uint64_t> peak =
      run.memory.peak_driver_bytes ? run.memory.peak_driver_bytes : run.memory.peak_device_bytes;
  const std::optional<std::uint64_t> all = facts.evidence.host ? facts.evidence.host->memory_bytes : std::nullopt;
  if (!peak)
    sheet.limit(unknown, Status::not_shown, "The device memory was not measured.");
  if (!all)
    sheet.limit("memory-unknown", Status::not_shown, "The host's memory is not recorded.");
  if (peak && all && static_cast<double>(*peak) > k_memory_share * static_cast<double>(*all))
    sheet.limit("memory-too-small", Status::fail, "The run takes up to " + human_bytes(*peak) + " of " + human_bytes(*all) + ".");
  else if (peak && all)
    sheet.pass("The run takes up to " + human_bytes(*peak) + " of " + human_bytes(*all) + " (shared by GPU and CPU).");
  if (peak)
    judge_growth(sheet, facts, run, static_cast<double>(*peak));
  if (is_long_training(facts) && facts.evidence.project.scale != "real")
    sheet.limit("scale-reduced", Status::not_shown, "The memory of a long training cannot be told from a reduced run.");
  if (facts.simulated)
    sheet.limit("simulated", Status::limited, "This is the memory of the simulated device.");
  return std::move(sheet).take();
}

} // namespace remotemac::verdict
