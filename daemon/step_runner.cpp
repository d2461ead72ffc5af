#include "daemon/step_runner.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "daemon/outputs.h"
#include "daemon/snapshot_store.h"
#include "daemon/worker_choice.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;
constexpr std::uint64_t k_evidence_max_bytes = std::uint64_t{256} << 20;
// Room for "/pymp-xxxxxxxx/listener-xxxxxxxx" within the 104 bytes of a socket address on macOS.
constexpr std::size_t k_temp_path_max = 64;

// A short name for a folder whose own path is too long for sockets in it: a link in a private folder, gone with the object.
class ShortName {
public:
  explicit ShortName(const fs::path& folder) : m_path(folder) {
    if (folder.native().size() <= k_temp_path_max)
      return;
    char name[] = "/tmp/rm-XXXXXX";
    if (::mkdtemp(name) == nullptr)
      return;
    m_private = name;
    if (::symlink(folder.c_str(), (m_private / "t").c_str()) == 0)
      m_path = m_private / "t";
  }
  ~ShortName() {
    if (m_private.empty())
      return;
    ::unlink((m_private / "t").c_str());
    ::rmdir(m_private.c_str());
  }
  ShortName(const ShortName&) = delete;
  ShortName& operator=(const ShortName&) = delete;
  [[nodiscard]] const fs::path& path() const { return m_path; }

private:
  fs::path m_private;
  fs::path m_path;
};
constexpr std::string_view k_package = "remotemac_harness";

Digest digest_of(std::span<const embedded::File> files) {
  std::string all;
  for (const embedded::File& file : files)
    all.append(file.name).append(1, '\0').append(std::to_string(file.text.size())).append(1, '\0').append(file.text);
  return sha256(all);
}

// Exactly these files with exactly these bytes: Python would prefer some of what may lie beside them (compiled files, packages).
bool is_whole(FileSystem& disk, const fs::path& home, std::span<const embedded::File> files) {
  const Result<std::vector<DirEntry>> above = disk.list(home);
  const Result<std::vector<DirEntry>> there = disk.list(home / k_package);
  if (!above || above->size() != 1 || !there || there->size() != files.size())
    return false;
  return std::all_of(files.begin(), files.end(), [&](const embedded::File& file) {
    const Result<std::string> text = disk.read_file(home / k_package / file.name, file.text.size());
    return text && *text == file.text;
  });
}

Result<void> write_package(FileSystem& disk, const fs::path& home, std::span<const embedded::File> files) {
  RM_TRY(disk.remove_tree(home)); // of one that was killed here
  RM_TRY(disk.make_dirs(home / k_package));
  for (const embedded::File& file : files)
    RM_TRY(disk.write_unsynced(home / k_package / file.name, file.text, 0400));
  return disk.sync_all(home);
}
} // namespace

struct StepRunner::Places {
  fs::path tree; // work/<step>: the copy of the project
  fs::path home;
  fs::path temp;
  fs::path results; // what the harness or worker writes about the run
  fs::path short_temp;
  [[nodiscard]] fs::path document() const { return results / "document.json"; }
  [[nodiscard]] fs::path before() const { return results / "environment-before.json"; }
  [[nodiscard]] std::vector<fs::path> all() const { return {tree, home, temp, results}; }
};

Result<fs::path> install_harness(FileSystem& disk, const fs::path& folder, std::span<const embedded::File> files) {
  const std::string name = digest_of(files).hex().substr(0, 16);
  const fs::path home = folder / name;
  // The file and not its folder: for a folder Python would leave a compiled __main__ beside the files.
  fs::path main = home / k_package / "__main__.py";
  if (is_whole(disk, home, files))
    return main;
  const fs::path fresh = folder / (name + ".new");
  RM_TRY_WHILE("writing the harness", write_package(disk, fresh, files));
  RM_TRY_WHILE("putting the harness in place", disk.remove_tree(home)); // it was changed
  RM_TRY_WHILE("putting the harness in place", disk.rename(fresh, home));
  return main;
}

Result<void> StepRunner::prepare(const JobStep& step, const Places& places, const StepEnvironment& environment) {
  for (const fs::path& each : places.all())
    RM_TRY(m_context.disk.remove_tree(each));
  BlobStore no_blobs(m_context.disk, {});
  SnapshotStore snapshots(m_context.disk, no_blobs, m_context.snapshots);
  RM_TRY_WHILE("copying the snapshot for step '" + step.name + "'", snapshots.copy_to(m_context.spec.snapshot, places.tree));
  for (const fs::path& each : {places.home, places.temp, places.results})
    RM_TRY(m_context.disk.make_dirs(each));
  return m_context.disk.write_unsynced(places.before(), dump_json(nlohmann::json(environment.before)), 0600);
}

Result<StepRunner::Command> StepRunner::command(const JobStep& step, const Places& places, StepResult& result) {
  Command out;
  out.environment = step_environment(m_context.ours, step, StepPlaces{places.home, places.short_temp, m_context.environment.folder, m_context.job});
  result.removed = out.environment.removed;
  if (step.kind == StepKind::worker) {
    RM_TRY(worker_command(step, places, out, result));
    return out;
  }
  out.argv = {m_context.environment.python.string(), m_context.harness.string(), "--mode", step.mode, "--device", step.device, "--fallback", step.fallback, "--out", places.document().string()};
  if (step.record)
    out.argv.emplace_back("--record");
  for (const RelPath& name : step.outputs)
    out.argv.push_back("--outputs=" + name.text());
  out.argv.insert(out.argv.end(), {"--project-root", places.tree.string(), "--env-before", places.before().string()});
  if (!step.argv.empty()) {
    out.argv.emplace_back("--");
    out.argv.insert(out.argv.end(), step.argv.begin(), step.argv.end());
  }
  return out;
}

Result<void> StepRunner::worker_command(const JobStep& step, const Places& places, Command& command, StepResult& result) {
  const PreparedEnvironment& environment = m_context.environment;
  const auto candidates = worker_candidates(m_context.disk, m_context.program_folder, m_context.host.workers);
  const auto worker = choose_worker(m_context.runner, candidates, environment.torch, environment.torch_lib);
  if (!worker) {
    result.record.reason = "no-worker";
    return Error(ErrorCode::setup, environment.torch.empty() ? "the environment has no torch" : "no worker for torch " + environment.torch + " on this host");
  }
  command.argv = {worker->string(), step.task, "--device", step.device, "--out", places.document().string()};
  if (step.task == "battery")
    command.argv.insert(command.argv.end(), {"--profile", step.profile});
  else
    command.argv.insert(command.argv.end(), {"--recording", (places.tree / step.recording).string()});
  for (const std::string& library : m_context.host.worker_preload)
    command.argv.insert(command.argv.end(), {"--preload", library});
  command.environment.variables[std::string(library_path_variable())] = environment.torch_lib.string();
  return ok();
}

void StepRunner::judge(const ChildEnd& end, StepResult& result) const {
  StepRecord& record = result.record;
  record.exit_code = end.exit_code;
  record.signal = end.signal;
  record.seconds = end.seconds;
  record.max_rss_bytes = end.max_rss_bytes;
  if (!end.stopped) {
    record.reason = end.signal ? "signal" : end.exit_code == 0 ? "ok" : "exit";
    return;
  }
  switch (*end.stopped) {
  case StopCause::cancelled:
    record.reason = "cancelled";
    result.ended_by_job_limit = true;
    break;
  case StopCause::job_wall:
    record.reason = "wall-time";
    result.detail = "the job ran longer than its limit of " + std::to_string(m_context.spec.limits.wall_s) + " s";
    result.ended_by_job_limit = true;
    break;
  case StopCause::step_wall:
    record.reason = "wall-time";
    result.detail = "step '" + record.name + "' ran longer than its limit of " + std::to_string(m_context.spec.limits.step_wall_s) + " s";
    break;
  case StopCause::disk:
    record.reason = "disk-limit";
    result.detail = "step '" + record.name + "' wrote more than its limit of " + human_bytes(m_context.spec.limits.disk_bytes);
    break;
  }
}

Result<void> StepRunner::execute(const JobStep& step, const Places& places, StepResult& result) {
  if (m_context.guard == NetworkGuard::none && m_context.host.allow_network == AllowNetwork::no)
    return Error(ErrorCode::setup, "no way was found to keep the step off the network", "host.toml: allow_network = true runs steps with network");
  RM_ASSIGN(const Command command, this->command(step, places, result));
  RM_TRY(prepare(step, places, command.environment));
  const std::uint64_t log_bytes = m_context.spec.limits.log_bytes;
  RM_ASSIGN(CappedLog out, CappedLog::open(m_context.paths.log(step.name + ".stdout"), log_bytes));
  RM_ASSIGN(CappedLog err, CappedLog::open(m_context.paths.log(step.name + ".stderr"), log_bytes));
  ChildSpec child;
  child.argv = command.argv;
  child.folder = places.tree;
  child.environment = command.environment.variables;
  child.network = m_context.guard;
  child.out = &out;
  child.err = &err;
  m_context.stop.begin(std::chrono::seconds(m_context.spec.limits.step_wall_s), JobStop::Watch::clocks_and_disk);
  RM_ASSIGN(const ChildEnd end, m_context.children.run(child, m_context.stop));
  out.flush();
  err.flush();
  judge(end, result);
  result.record.stdout_bytes = out.file_bytes();
  result.record.stderr_bytes = err.file_bytes();
  result.record.dropped_bytes = out.dropped_bytes() + err.dropped_bytes();
  return ok();
}

void StepRunner::keep_results(const JobStep& step, const Places& places, StepResult& result) {
  const Result<bool> document = collect_file(m_context.disk, places.document(), m_context.paths.evidence() / (step.name + ".json"), k_evidence_max_bytes);
  const std::uint64_t room = m_context.spec.limits.output_bytes - std::min(m_context.spec.limits.output_bytes, m_output_bytes);
  const Result<CollectedOutputs> kept = collect_outputs(m_context.disk, places.tree, step.outputs, m_context.paths.outputs() / step.name, room);
  // A step that was stopped keeps the reason of that: what could not be kept of it is told beside.
  const bool stopped = result.record.reason != "ok" && result.record.reason != "exit" && result.record.reason != "signal";
  const auto not_kept = [&](const std::string& what) {
    if (!stopped)
      result.record.reason = "output-limit";
    result.detail += (result.detail.empty() ? "" : "; ") + what;
  };
  if (!document)
    not_kept("the document of step '" + step.name + "' could not be kept: " + document.error().chain());
  if (!kept)
    return not_kept("what step '" + step.name + "' left could not be kept: " + kept.error().chain());
  m_output_bytes += kept->size_bytes;
  if (!kept->over_limit.empty())
    not_kept("'" + kept->over_limit.front() + "' of step '" + step.name + "' would take the outputs over their limit of " + human_bytes(m_context.spec.limits.output_bytes));
}

StepResult StepRunner::run(const JobStep& step) {
  StepResult result;
  result.record.name = step.name;
  result.record.kind = step.kind == StepKind::harness ? "harness" : "worker";
  Places places;
  const fs::path work = m_context.paths.work();
  places.tree = work / step.name;
  places.home = work / (step.name + ".home");
  places.temp = work / (step.name + ".tmp");
  places.results = work / (step.name + ".results");
  const ShortName short_temp(places.temp);
  places.short_temp = short_temp.path();
  if (const Result<void> done = execute(step, places, result); !done) {
    if (result.record.reason.empty())
      result.record.reason = "start-failed";
    result.detail = done.error().chain();
  } else {
    keep_results(step, places, result);
  }
  for (const fs::path& each : places.all()) {
    if (const Result<void> removed = m_context.disk.remove_tree(each); !removed)
      log_event(LogLevel::warn, "jobs", "work-not-removed", {{"step", step.name}, {"error", removed.error().chain()}});
  }
  result.record.state = "done";
  return result;
}

} // namespace remotemac::daemon
