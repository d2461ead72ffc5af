// Both machines: versions, memory; and what the survey read of the project's own files.
#include "cli/report/display.h"
#include "cli/report/parts.h"
#include "cli/report/sections.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace remotemac::report {
namespace {
// One side: the daemon's facts and the harness document, either may be missing.
struct Side {
  const HostFacts* host = nullptr;
  const HarnessDocument* run = nullptr;

  [[nodiscard]] std::string system() const {
    if (run != nullptr && !run->platform.macos.empty())
      return "macOS " + run->platform.macos + " (" + run->platform.machine + ")";
    if (run != nullptr && !run->platform.system.empty())
      return run->platform.system + " " + run->platform.release + " (" + run->platform.machine + ")";
    if (host == nullptr || host->os.empty())
      return {};
    return (host->os == "Darwin" ? "macOS" : host->os) + " " + host->os_version + " (" + host->arch + ")";
  }
  [[nodiscard]] std::string machine() const {
    if (host == nullptr)
      return {};
    return host->chip + (host->model.empty() || host->chip.empty() ? "" : ", ") + host->model;
  }
  [[nodiscard]] std::string memory() const {
    return host != nullptr && host->memory_bytes ? bytes(*host->memory_bytes) : "";
  }
  [[nodiscard]] std::string virtual_machine() const {
    if (host != nullptr && host->virtual_machine)
      return yes_no(host->virtual_machine);
    return run == nullptr ? "" : yes_no(run->platform.virtual_machine);
  }
  [[nodiscard]] std::string device() const {
    if (run == nullptr)
      return {};
    const std::string& name = run->backend.device_name;
    return run->device_requested + (name.empty() || name == run->device_requested ? "" : ", " + name);
  }
  [[nodiscard]] std::string python() const {
    return run == nullptr ? "" : run->python.version + " " + run->python.implementation;
  }
  [[nodiscard]] std::string torch() const {
    if (run == nullptr)
      return {};
    if (!run->torch.error.empty())
      return "cannot be imported: " + run->torch.error;
    return run->torch.version + (run->torch.cuda_build.empty() ? "" : ", CUDA " + run->torch.cuda_build);
  }
  [[nodiscard]] std::string git() const { return run == nullptr ? "" : run->torch.git_version.substr(0, 12); }
  [[nodiscard]] std::string daemon() const { return host == nullptr ? "" : host->daemon_version; }
};

Side host_side(const Evidence& e) {
  Side side{e.host ? &*e.host : nullptr, counted_run(e)};
  if (side.run == nullptr && e.backend)
    side.run = &*e.backend;
  return side;
}

Side reference_side(const Evidence& e) {
  return {e.reference && e.reference->host_facts ? &*e.reference->host_facts : nullptr, reference_run(e)};
}

void add_backend_steps(const Evidence& e, Document& out) {
  if (!e.backend || e.backend->backend.steps.empty())
    return;
  const BackendFacts& backend = e.backend->backend;
  Inline text{words(is_simulated(e) ? "Simulated MPS" : "MPS"),
              words(" in the project's own environment: built "),
              said(yes_no(backend.built)),
              words(", available "),
              said(yes_no(backend.available)),
              words(", usable "),
              said(yes_no(backend.usable), backend.usable.value_or(false) ? Tone::good : Tone::bad),
              words(". Steps: ")};
  for (std::size_t i = 0; i < std::min<std::size_t>(backend.steps.size(), 10); ++i) {
    const BackendStep& step = backend.steps[i];
    text.push_back(words(i == 0 ? "" : ", "));
    text.push_back(said(step.name));
    text.push_back(words(step.ok ? " ok" : " failed", step.ok ? Tone::good : Tone::bad));
    if (!step.ok && !step.detail.empty())
      text.push_back(said(" (" + step.detail + ")"));
  }
  text.push_back(words("."));
  out.push_back(paragraph(std::move(text)));
}

// Packages whose versions differ between the two sides.
void add_packages(const Side& host, const Side& reference, Document& out) {
  if (host.run == nullptr || reference.run == nullptr || host.run->packages.empty() || reference.run->packages.empty())
    return;
  std::map<std::string, std::string> there;
  for (const PackageVersion& package : reference.run->packages)
    there[package.name] = package.version;
  std::size_t same = 0;
  std::vector<std::string> differ;
  for (const PackageVersion& package : host.run->packages) {
    const auto found = there.find(package.name);
    if (found != there.end() && found->second == package.version)
      ++same;
    else if (found != there.end())
      differ.push_back(tidy(package.name, 60) + " " + tidy(package.version, 40) + " / " + tidy(found->second, 40));
  }
  std::string text =
      "Packages: " + number(same) + " with the same version on both sides, " + number(differ.size()) + " with another";
  constexpr std::size_t k_max = 12;
  for (std::size_t i = 0; i < std::min(k_max, differ.size()); ++i)
    text += (i == 0 ? " (host / reference): " : ", ") + differ[i];
  out.push_back(paragraph({words(text + (differ.size() > k_max ? ", ..." : "."))}));
}

std::string memory_text(const std::optional<std::uint64_t>& value) {
  return value ? bytes(*value) : "";
}
} // namespace

Document environment_section(const Source& source) {
  const Side host = host_side(source.evidence);
  const Side reference = reference_side(source.evidence);
  const bool two = reference.host != nullptr || reference.run != nullptr;
  Table table{{{"", false}, {"host", false}}, {}};
  if (two)
    table.columns.push_back({"reference", false});
  const auto add = [&](std::string label, std::string (Side::*get)() const) {
    const std::string mine = tidy((host.*get)());
    const std::string theirs = tidy((reference.*get)());
    if (mine.empty() && theirs.empty())
      return;
    std::vector<Inline> row{{words(std::move(label))}, cell(mine)};
    if (two)
      row.push_back(cell(theirs));
    table.rows.push_back(std::move(row));
  };
  add("system", &Side::system);
  add("machine", &Side::machine);
  add("memory", &Side::memory);
  add("virtual machine", &Side::virtual_machine);
  add("device", &Side::device);
  add("Python", &Side::python);
  add("PyTorch", &Side::torch);
  add("PyTorch source", &Side::git);
  add("remotemacd", &Side::daemon);
  Document out;
  if (!table.rows.empty())
    out.push_back(std::move(table));
  add_packages(host, reference, out);
  add_backend_steps(source.evidence, out);
  return out;
}

Document survey_section(const Source& source) {
  if (!source.evidence.survey)
    return {};
  const Survey& survey = *source.evidence.survey;
  Document out;
  std::string text = count(survey.counts.files, "file", "files") + ", " + number(survey.counts.parsed) + " of " +
                     count(survey.counts.python_files, "Python file", "Python files") + " parsed, " +
                     number(survey.counts.reached) +
                     " on the way of the command; largest effort: " + std::string(name_of(survey.effort)) + ".";
  out.push_back(paragraph({words(std::move(text))}));
  Table table{{{"package", false}, {"class", false}, {"needed", false}, {"place", false}, {"alternative", false}}, {}};
  std::size_t total = 0;
  for (const SurveyPackage& package : survey.packages) {
    if (package.package_class == PackageClass::portable || ++total > 12)
      continue;
    const std::vector<SurveyPlace>& places = package.imported.empty() ? package.declared : package.imported;
    const bool heavy = package.package_class == PackageClass::blocks && package.need == Need::needed;
    table.rows.push_back({code_cell(package.name),
                          cell(name_of(package.package_class), heavy ? Tone::bad : Tone::plain),
                          cell(name_of(package.need)),
                          code_cell(places.empty() ? "" : place_of(places.front().file, places.front().line)),
                          cell(package.alternative)});
  }
  if (!table.rows.empty())
    out.push_back(std::move(table));
  add_rest(total, 12, "packages", out);
  return out;
}

Document memory_section(const Source& source) {
  const HarnessDocument* run = counted_run(source.evidence);
  if (run == nullptr)
    return {};
  const HarnessDocument* reference = reference_run(source.evidence);
  Table table{{{"peak", false}, {"host", true}}, {}};
  if (reference != nullptr)
    table.columns.push_back({"reference", true});
  const auto add = [&](std::string label, std::optional<std::uint64_t> MemoryFacts::* field) {
    if (!(run->memory.*field) && (reference == nullptr || !(reference->memory.*field)))
      return;
    std::vector<Inline> row{{words(std::move(label))}, cell(memory_text(run->memory.*field))};
    if (reference != nullptr)
      row.push_back(cell(memory_text(reference->memory.*field)));
    table.rows.push_back(std::move(row));
  };
  add("device", &MemoryFacts::peak_device_bytes);
  add("driver", &MemoryFacts::peak_driver_bytes);
  add("process", &MemoryFacts::peak_rss_bytes);
  Document out;
  if (!table.rows.empty())
    out.push_back(std::move(table));
  std::string text;
  if (const std::optional<double> slope = run->memory.slope_bytes_per_step; slope && std::isfinite(*slope)) {
    const double size = std::min(std::abs(*slope), 1e18);
    text = size < 1 ? "The device memory did not grow from step to step."
                    : std::string("The device memory ") + (*slope > 0 ? "grew" : "shrank") + " by " +
                          bytes(static_cast<std::uint64_t>(size)) + " per step.";
  }
  if (source.evidence.host && source.evidence.host->memory_bytes)
    text += (text.empty() ? "" : " ") + std::string("The host has ") + bytes(*source.evidence.host->memory_bytes) + ".";
  if (!text.empty())
    out.push_back(paragraph({words(std::move(text))}));
  return out;
}

} // namespace remotemac::report
