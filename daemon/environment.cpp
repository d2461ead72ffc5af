#include "daemon/environment.h"

#include "common/json.h"
#include "common/text.h"
#include "daemon/file_lock.h"
#include "daemon/snapshot_store.h"

#include <nlohmann/json.hpp>
#include <poll.h>

namespace remotemac::daemon {
namespace {
namespace fs = std::filesystem;
constexpr std::size_t k_requirements_max_bytes = std::size_t{1} << 20;

// Metadata only: importing torch would take seconds, and may crash.
constexpr const char* k_torch_question = R"(
import importlib.metadata, json, os
try:
    torch = importlib.metadata.distribution("torch")
    print(json.dumps({"torch": torch.version, "lib": os.path.realpath(str(torch.locate_file("torch/lib")))}))
except importlib.metadata.PackageNotFoundError:
    print(json.dumps({"torch": "", "lib": ""}))
)";

constexpr const char* k_packages_question = R"(
import importlib.metadata, json
found = {}
for each in importlib.metadata.distributions():
    name = each.metadata["Name"]
    if name and name not in found:
        found[name] = each.version
print(json.dumps({"packages": [{"name": name, "version": found[name]} for name in sorted(found, key=str.lower)]}))
)";

Error failed(const std::string& what) { return Error(ErrorCode::environment, what); }

std::string path_line(const std::string& folder) {
  // A JSON string is a Python string too.
  return "import site; site.addsitedir(" + dump_json(nlohmann::json(folder), -1) + ")\n";
}

fs::path marker_of(const fs::path& folder) { return folder / "remotemac-environment.json"; }
} // namespace

struct EnvironmentMaker::Plan {
  PythonInfo python;
  std::optional<PythonInfo> packages;
  bool local_references = false;
  std::string key;
  fs::path folder;
  [[nodiscard]] fs::path interpreter() const { return folder / "bin" / "python"; }
};

// Chooses the interpreter and computes the key.
Result<EnvironmentMaker::Plan> EnvironmentMaker::plan(const EnvironmentRequest& request) {
  Plan out;
  const std::string packages_from = request.wanted.packages_from.empty() ? request.host.packages_from : request.wanted.packages_from;
  std::string interpreter = request.wanted.python.empty() ? (packages_from.empty() ? request.host.python : packages_from) : request.wanted.python;
  if (interpreter.empty()) {
    const auto path = request.ours.find("PATH");
    const std::vector<std::string> found = interpreter_candidates(path == request.ours.end() ? "" : path->second);
    if (found.empty())
      return failed("no Python interpreter was found on the host; name one as 'python' in host.toml");
    interpreter = found.front();
  }
  RM_ASSIGN(out.python, ask_python(m_runner, interpreter));
  nlohmann::json key{{"version", 1}, {"python", out.python.executable}, {"python_version", out.python.version}, {"abi", out.python.abi}};
  if (!packages_from.empty()) {
    RM_ASSIGN(PythonInfo packages, ask_python(m_runner, packages_from));
    if (packages.abi != out.python.abi)
      return failed("the packages of " + clean_line(packages_from, 300) + " (Python " + packages.version + ") cannot be used by Python " + out.python.version +
                    "; name an interpreter of the same version as 'python'");
    key["packages_from"] = {packages.executable, packages.version, packages.packages_digest};
    out.packages = std::move(packages);
  }
  key["requirements"] = nlohmann::json::array();
  for (const RelPath& file : request.wanted.requirements) {
    const Result<std::string> text = m_disk.read_file(request.tree / file.text(), k_requirements_max_bytes);
    if (!text)
      return failed("the requirement file '" + file.text() + "' cannot be read: " + text.error().message());
    key["requirements"].push_back({file.text(), sha256(*text).hex()});
    out.local_references = out.local_references || has_local_references(*text);
  }
  if (out.local_references)
    key["snapshot"] = request.snapshot.hex();
  RM_ASSIGN(const std::string canonical, canonical_json(key));
  out.key = sha256(canonical).hex();
  out.folder = m_envs / out.key;
  return out;
}

Result<void> EnvironmentMaker::run(const std::vector<std::string>& argv, const fs::path& folder, const EnvironmentRequest& request, CappedLog& log, StopSource& stop) {
  log.write("$ " + join(argv, " ") + "\n");
  ChildSpec spec;
  spec.argv = argv;
  spec.folder = folder;
  spec.environment = installer_environment(request.ours, request.job);
  spec.out = &log;
  spec.err = &log;
  RM_ASSIGN(const ChildEnd end, m_children.run(spec, stop));
  if (end.stopped == StopCause::cancelled)
    return Error(ErrorCode::interrupted, "cancelled while the environment was made");
  if (end.stopped)
    return Error(ErrorCode::deadline, "making the environment took longer than its limit");
  if (end.signal)
    return failed("'" + clean_line(join(argv, " "), 200) + "' was ended by signal " + std::to_string(*end.signal));
  if (end.exit_code != 0)
    return failed("'" + clean_line(join(argv, " "), 200) + "' ended with exit status " + std::to_string(end.exit_code.value_or(-1)));
  return ok();
}

Result<void> EnvironmentMaker::install(const Plan& plan, const EnvironmentRequest& request, CappedLog& log, StopSource& stop) {
  fs::path folder = request.tree;
  if (plan.local_references) { // building needs a place to write, an editable install a place that stays
    folder = plan.folder / "src";
    BlobStore no_blobs(m_disk, {});
    SnapshotStore snapshots(m_disk, no_blobs, request.tree.parent_path());
    RM_TRY(snapshots.copy_to(request.snapshot, folder));
  }
  std::vector<std::string> argv{plan.interpreter().string(), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"};
  for (const RelPath& file : request.wanted.requirements) {
    argv.emplace_back("-r");
    argv.push_back((folder / file.text()).string());
  }
  Result<void> installed = run(argv, folder, request, log, stop);
  if (!installed && installed.error().code() == ErrorCode::environment)
    return failed(explain_pip_failure(log.tail()));
  return installed;
}

Result<void> EnvironmentMaker::make(const Plan& plan, const EnvironmentRequest& request, CappedLog& log, StopSource& stop) {
  const bool needs_pip = !request.wanted.requirements.empty();
  std::vector<std::string> argv{plan.python.executable, "-m", "venv"};
  if (!needs_pip)
    argv.emplace_back("--without-pip");
  argv.push_back(plan.folder.string());
  Result<void> made = run(argv, m_envs, request, log, stop);
  if (!made && made.error().code() == ErrorCode::environment)
    return failed("no virtual environment could be made (" + made.error().message() + "; see the log 'environment'; on Debian and Ubuntu: apt-get install python3-venv)");
  RM_TRY(std::move(made));
  RM_ASSIGN(const PythonInfo inside, ask_python(m_runner, plan.interpreter().string()));
  if (plan.packages && !inside.sites.empty()) {
    std::string lines;
    for (const std::string& site : plan.packages->sites)
      lines += path_line(site);
    RM_TRY(m_disk.write_atomic(fs::path(inside.sites.front()) / "remotemac_packages.pth", lines, 0644));
  }
  if (needs_pip)
    RM_TRY(install(plan, request, log, stop));
  return show_packages(plan, inside);
}

// The record of what is in it is the last thing written: its presence says that the environment is whole.
Result<void> EnvironmentMaker::show_packages(const Plan& plan, const PythonInfo& made) {
  RM_ASSIGN(const std::string answer, ask(plan.interpreter(), k_packages_question));
  RM_ASSIGN(nlohmann::json record, parse_json(answer, "the list of packages"));
  record["key"] = plan.key;
  record["python"] = made.executable;
  record["python_version"] = made.version;
  record["packages_from"] = plan.packages ? plan.packages->executable : "";
  return m_disk.write_atomic(marker_of(plan.folder), dump_json(record) + "\n", 0600);
}

Result<std::string> EnvironmentMaker::ask(const fs::path& python, const char* question) {
  ProcessSpec spec;
  spec.argv = {python.string(), "-I", "-c", question};
  spec.deadline = std::chrono::seconds(120);
  RM_ASSIGN(const ProcessResult answer, m_runner.run(spec));
  if (answer.exit_code != 0)
    return failed("the Python of the environment does not work: " + clean_line(trim(answer.err), 300));
  return answer.out;
}

Result<void> EnvironmentMaker::find_torch(PreparedEnvironment& environment) {
  RM_ASSIGN(const std::string answer, ask(environment.python, k_torch_question));
  RM_ASSIGN(const nlohmann::json value, parse_json(answer, "the answer about torch"));
  environment.torch = clean_line(json_text(value, "torch"), 64);
  environment.torch_lib = json_text(value, "lib");
  return ok();
}

Result<PreparedEnvironment> EnvironmentMaker::prepare(const EnvironmentRequest& request, CappedLog& log, StopSource& stop) {
  RM_ASSIGN(const Plan planned, plan(request));
  const fs::path lock_file = m_envs / (planned.key + ".lock");
  RM_ASSIGN(std::optional<FileLock> lock, FileLock::try_take(lock_file));
  if (!lock)
    log.write("Another job makes the same environment; waiting for it.\n");
  while (!lock) {
    if (const auto cause = stop.check())
      return Error(*cause == StopCause::cancelled ? ErrorCode::interrupted : ErrorCode::deadline, "stopped while another job was making the same environment");
    ::poll(nullptr, 0, 100);
    RM_ASSIGN(lock, FileLock::try_take(lock_file));
  }
  PreparedEnvironment out{planned.key, m_disk.exists(marker_of(planned.folder)), planned.folder, planned.interpreter(), {}, {}};
  Result<void> done;
  if (out.reused) {
    log.write("The environment " + planned.key.substr(0, 12) + " is used again.\n");
  } else {
    RM_TRY(m_disk.remove_tree(planned.folder)); // what a crash may have left
    done = make(planned, request, log, stop);
  }
  if (done)
    done = find_torch(out);
  if (done)
    done = m_disk.write_unsynced(m_envs / (planned.key + ".used"), request.job + "\n", 0600); // its age is the time of the last use
  if (done)
    return out;
  if (!out.reused)
    (void)m_disk.remove_tree(planned.folder).has_value(); // without its marker it is not used anyhow
  return done.error();
}

} // namespace remotemac::daemon
