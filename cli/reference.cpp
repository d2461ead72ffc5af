#include "cli/reference.h"

#include "common/file_system.h"
#include "common/json.h"
#include "common/text.h"

#include <nlohmann/json.hpp>

namespace remotemac::cli {

Result<JobDone> make_reference_run(Context& context, const ProjectFile& project) {
  if (project.command.empty())
    return Error(ErrorCode::project, "remotemac.toml names no command to run", "write for example: [run] command = [\"train.py\", \"--epochs\", \"1\"]");
  RM_ASSIGN(const HostStore hosts, HostStore::load(context.paths, context.config));
  RM_ASSIGN(const HostRecord local, hosts.find("local"));
  JobRequest request;
  request.kind = RunKind::reference;
  request.plan = [&](const HostRecord& host, const Digest& snapshot) { return plan_reference(project, host, snapshot); };
  RM_ASSIGN_WHILE("making the reference", JobDone done, run_job(context, project, local, request));
  return done;
}

Result<ReferenceSummary> summarize_reference(const ProjectFile& project, const RunInfo& info) {
  RM_ASSIGN(RunStore store, RunStore::open(project.root));
  PosixFileSystem disk;
  ReferenceSummary out;
  const std::filesystem::path file = store.folder(info) / "evidence" / "reference.json";
  if (!disk.exists(file)) {
    const std::string reason = json_text(json_at(info.parts, "job"), "reason");
    out.text = "the job left no evidence" + (reason.empty() ? "" : ": " + clean_line(reason, 400));
    return out;
  }
  RM_ASSIGN(const std::string text, disk.read_file(file, std::uint64_t{256} << 20));
  RM_ASSIGN(const nlohmann::json document, parse_json(text, "the reference's harness document"));
  const nlohmann::json& outcome = json_at(document, "outcome");
  out.usable = json_text(outcome, "status") == "ok" || (json_text(outcome, "status") == "exit" && json_int(outcome, "exit_code", -1) == 0);
  std::int64_t most = 0;
  for (const auto& [device, use] : json_at(document, "device_use").items()) {
    const std::int64_t operations = json_int(use, "operations");
    // Data are prepared on the CPU in every run: any other device that did work is where the run ran.
    if (device != "cpu" ? (operations > 0 && (out.device == "cpu" || operations > most)) : most == 0 && out.device.empty()) {
      out.device = clean_line(device, 20);
      most = device == "cpu" ? 0 : operations;
    }
  }
  const nlohmann::json& signatures = json_at(document, "signatures");
  if (signatures.is_array() && !signatures.empty()) {
    out.signatures = signatures.size();
    const nlohmann::json recording{{"format", "remotemac-recording"}, {"version", 1}, {"torch", json_text(json_at(document, "torch"), "version")}, {"signatures", signatures}};
    out.recording = dump_json(recording, -1);
  }
  if (!out.usable) {
    const nlohmann::json& exception = json_at(outcome, "exception");
    out.text = "the script did not end well: " + (exception.is_object() ? clean_line(json_text(exception, "type") + ": " + json_text(exception, "message"), 400) : "exit status " + std::to_string(json_int(outcome, "exit_code", -1)));
  } else {
    out.text = "ran on " + out.device + ", " + std::to_string(out.signatures) + " operation signatures recorded" + (out.device == "cuda" ? "" : " (there is no CUDA device here: the reference is CPU, not CUDA)");
  }
  return out;
}

} // namespace remotemac::cli
