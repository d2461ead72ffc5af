// C1 versions, C3 backend, C4 the run, C5 placement.
#include "cli/verdict/criteria.h"
#include "cli/verdict/judges.h"
#include "common/text.h"

#include <charconv>

namespace remotemac::verdict {
namespace {

// Supported from here on. MPS needs macOS 12.3; newer PyTorch needs more (2.5: 13, 2.10: 14).
struct Version {
  int major = 0;
  int minor = 0;
  auto operator<=>(const Version&) const = default;
};
constexpr Version k_oldest_torch{2, 0};
constexpr Version k_oldest_python{3, 9};

std::optional<Version> version_of(std::string_view text) {
  Version out;
  const auto major = std::from_chars(text.data(), text.data() + text.size(), out.major);
  if (major.ec != std::errc())
    return std::nullopt;
  const char* end = text.data() + text.size();
  if (major.ptr != end && *major.ptr == '.')
    std::from_chars(major.ptr + 1, end, out.minor);
  return out;
}

Version oldest_macos(const Version& torch) {
  if (torch >= Version{2, 10})
    return {14, 0};
  return torch >= Version{2, 5} ? Version{13, 0} : Version{12, 3};
}

void at_least(Sheet& sheet, std::string_view what, const std::string& value, const Version& oldest) {
  const std::optional<Version> version = version_of(value);
  if (!version)
    sheet.limit("hardware-unknown", Status::not_shown, "The version of " + std::string(what) + " is not recorded.");
  else if (*version < oldest)
    sheet.limit("versions-old", Status::fail,
                std::string(what) + " " + value + " is older than " + std::to_string(oldest.major) + "." +
                    std::to_string(oldest.minor) + ", the oldest that is supported.");
  else
    sheet.pass(std::string(what) + " " + value + ".");
}

void judge_mac(Sheet& sheet, const Facts& facts, const HarnessDocument& run) {
  const std::optional<HostFacts>& host = facts.evidence.host;
  if (run.platform.system != "Darwin") {
    sheet.limit(run.platform.system.empty() ? "hardware-unknown" : "not-a-mac",
                run.platform.system.empty() ? Status::not_shown : Status::fail,
                run.platform.system.empty() ? "The host's system is not recorded."
                                            : "The run took place on " + run.platform.system + ", not on macOS.");
    return;
  }
  at_least(sheet, "macOS", run.platform.macos, oldest_macos(version_of(run.torch.version).value_or(k_oldest_torch)));
  if (run.platform.machine != "arm64")
    sheet.limit("not-a-mac", Status::fail,
                "The machine is " + (run.platform.machine.empty() ? std::string("of unknown kind") : run.platform.machine) +
                    ", not arm64.");
  const bool virtual_machine = run.platform.virtual_machine == true || (host && host->virtual_machine == true);
  if (virtual_machine)
    sheet.limit("virtual-machine", Status::limited,
                "The Mac is a virtual machine: its GPU is not the one that a user would have.");
  else if (!run.platform.virtual_machine && !(host && host->virtual_machine))
    sheet.limit("hardware-unknown", Status::not_shown, "It is not recorded whether the Mac is a virtual machine.");
  if (host && !host->chip.empty())
    sheet.pass("Chip " + host->chip + (host->model.empty() ? "" : ", model " + host->model) + ".");
  else if (host)
    sheet.limit("hardware-unknown", Status::not_shown, "The chip is not recorded.");
}

} // namespace

Criterion judge_versions(const Facts& facts) {
  Sheet sheet("C1");
  const HarnessDocument* run = facts.run != nullptr ? facts.run : facts.evidence.backend ? &*facts.evidence.backend : nullptr;
  if (!facts.evidence.host)
    sheet.limit("hardware-unknown", Status::not_shown, "The host's facts are not there.");
  if (run == nullptr) {
    sheet.limit("hardware-unknown", Status::not_shown, "No document of the host records its versions.");
    return std::move(sheet).take();
  }
  at_least(sheet, "Python", run->python.version, k_oldest_python);
  at_least(sheet, "PyTorch", run->torch.version, k_oldest_torch);
  if (facts.simulated)
    sheet.limit("simulated", Status::limited,
                "The device is a simulated one on " + run->platform.system + " " + run->platform.machine +
                    (facts.simulation_reason.empty() ? "" : ": " + facts.simulation_reason) + ".");
  else
    judge_mac(sheet, facts, *run);
  if (!facts.simulated && facts.simulation_unknown)
    sheet.limit("simulation-unknown", Status::not_shown, "A document does not say whether its device is simulated.");
  return std::move(sheet).take();
}

Criterion judge_backend(const Facts& facts) {
  Sheet sheet("C3");
  const std::optional<HarnessDocument>& document = facts.evidence.backend;
  const std::string_view cause_id = facts.failure == "backend-unusable" ? "backend-unusable" : "backend-unchecked";
  if (!document) {
    const auto why = facts.evidence.absent.find("backend");
    sheet.limit(cause_id, Status::not_shown,
                "The backend check left no document" + (why == facts.evidence.absent.end() ? "" : ": " + why->second) + ".");
    return std::move(sheet).take();
  }
  const BackendFacts& backend = document->backend;
  const auto answer = [](const std::optional<bool>& value) { return std::string(!value ? "unknown" : *value ? "yes" : "no"); };
  const std::string all =
      "built " + answer(backend.built) + ", available " + answer(backend.available) + ", usable " + answer(backend.usable);
  const bool good = backend.built == true && backend.available == true && backend.usable == true &&
                    document->device_requested == "mps" && !document->partial;
  for (const BackendStep& step : backend.steps) {
    if (!step.ok)
      sheet.limit(cause_id, Status::fail,
                  "Step " + step.name + " of the backend check failed: " + clean_line(step.detail, 300) + ".");
  }
  if (!good)
    sheet.limit(cause_id, backend.usable == false ? Status::fail : Status::not_shown,
                "MPS in the project's environment: " + all + (document->partial ? "; the check did not end" : "") + ".");
  else if (facts.simulated)
    sheet.limit("simulated", Status::limited,
                "The simulated device answers as MPS does: " + all + ", " + counted(backend.steps.size(), "step", "steps") +
                    " done.");
  else
    sheet.pass("MPS in the project's environment: " + all + ", " + counted(backend.steps.size(), "step", "steps") + " done.");
  return std::move(sheet).take();
}

namespace {
void judge_job(Sheet& sheet, const Facts& facts) {
  const std::optional<JobRecord>& job = facts.evidence.job;
  if (!job)
    sheet.limit("job-missing", Status::not_shown, "The job's record is not there.");
  else if (job->state != JobState::succeeded && job->state != JobState::failed) // a failed step has its own document
    sheet.limit("job-missing", Status::not_shown, "The job's record says '" + std::string(state_name(job->state)) + "'.");
}

void judge_mini_run(Sheet& sheet, const Facts& facts, const std::optional<HarnessDocument>& run, std::string_view name) {
  if (!run) {
    const auto why = facts.evidence.absent.find(std::string(name));
    sheet.note("The " + std::string(name) + " run left no document" +
                   (why == facts.evidence.absent.end() ? "" : ": " + why->second) + ".",
               Status::not_shown);
    return;
  }
  const std::uint64_t operations = run->operations_on("mps");
  if (ended_well(*run) && operations > 0 && run->device_requested == "mps")
    sheet.pass("The " + std::string(name) +
               " run ended well: " + counted(run->timing.steps, "optimizer step", "optimizer steps") + ", " +
               counted(operations, "operation", "operations") + " on mps, " + human_seconds(run->timing.wall_s) + ".");
  else {
    const std::string text = "The " + std::string(name) +
                             " run: " + (ended_well(*run) ? "ended well with no operation on mps" : how_it_ended(*run)) + ".";
    facts.works() ? sheet.note(text, Status::limited) : sheet.limit(facts.failure, Status::fail, text);
  }
}
} // namespace

Criterion judge_run(const Facts& facts) {
  Sheet sheet("C4");
  const Evidence& e = facts.evidence;
  judge_mini_run(sheet, facts, e.strict, "strict");
  judge_mini_run(sheet, facts, e.permissive, "permissive");
  if (!facts.works()) {
    if (facts.run == nullptr)
      sheet.limit(facts.failure, Status::not_shown, "Neither mini-run left a document.");
  } else if (!facts.strict_works) {
    sheet.limit(e.strict ? "strict-failed" : "strict-missing", Status::limited,
                "Only the permissive run ended well on the device.");
  } else if (!facts.permissive_works) {
    sheet.limit("permissive-missing", Status::not_shown, "Only the strict run ended well on the device.");
  }
  if (facts.run != nullptr && facts.works() && !facts.run->missing_outputs.empty())
    sheet.limit("outputs-missing", Status::limited,
                counted(facts.run->missing_outputs.size(), "declared output was", "declared outputs were") +
                    " not left: " + join(facts.run->missing_outputs, ", ") + ".");
  judge_job(sheet, facts);
  if (facts.simulated && facts.works())
    sheet.limit("simulated", Status::limited, "It ran on a simulated device, so nothing is shown for a Mac.");
  if (e.project.scale == "real")
    sheet.pass("The project declares this run to be of the real task's size.");
  else
    sheet.note("The run is a reduced one; the full task was not run.");
  return std::move(sheet).take();
}

Criterion judge_placement(const Facts& facts) {
  Sheet sheet("C5");
  if (facts.run == nullptr) {
    sheet.limit("run-missing", Status::not_shown, "No mini-run left a document, so nothing shows where the work was done.");
    return std::move(sheet).take();
  }
  const HarnessDocument& run = *facts.run;
  const std::uint64_t on_device = run.operations_on("mps");
  const std::uint64_t on_cpu = run.operations_on("cpu");
  const auto held = [&](const std::string& device) { return run.parameters.contains(device) ? run.parameters.at(device) : 0; };
  const std::string numbers = counted(on_device, "operation", "operations") + " on mps, " + std::to_string(on_cpu) +
                              " on cpu; parameters: " + std::to_string(held("mps")) + " on mps, " + std::to_string(held("cpu")) +
                              " on cpu";
  if (on_device == 0)
    sheet.limit(facts.works() ? "mixed-devices" : facts.failure, facts.failure == "silent-cpu" ? Status::fail : Status::not_shown,
                "No operation ran on the device (" + numbers + ").");
  else if (held("cpu") > 0)
    sheet.limit("mixed-devices", held("mps") == 0 ? Status::fail : Status::limited,
                "Optimizers hold parameters on the CPU (" + numbers + ").");
  else if (!facts.works())
    sheet.limit(facts.failure, Status::not_shown, "The run broke off; until then: " + numbers + ".");
  else if (held("mps") == 0 && on_device < on_cpu)
    sheet.limit("mixed-devices", Status::limited,
                "Most operations ran on the CPU and no optimizer shows where the model is (" + numbers + ").");
  else
    sheet.pass("The work was done on the device: " + numbers + ".");
  return std::move(sheet).take();
}

} // namespace remotemac::verdict
