#include "cli/doctor.h"

#include "cli/install.h"
#include "cli/project_file.h"
#include "cli/remote.h"
#include "cli/workflow.h"
#include "common/file_system.h"
#include "common/json.h"
#include "common/text.h"
#include "policies/rule_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac::cli {
namespace {
CheckResult good(std::string name, std::string detail) { return {std::move(name), CheckStatus::good, std::move(detail), ""}; }
CheckResult bad(std::string name, const Error& error) { return {std::move(name), CheckStatus::bad, error.chain(), error.hint()}; }

CheckResult check_python(Context& context) {
  ProcessSpec spec;
  spec.argv = {"python3", "-I", "-S", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"};
  spec.deadline = std::chrono::seconds(20);
  const Result<ProcessResult> result = context.processes.run(spec);
  if (!result || result->exit_code != 0)
    return {"python3 here", CheckStatus::bad, "python3 cannot be run", "install python3: the survey reads sources with Python's own parser, and the reference needs it"};
  return good("python3 here", clean_line(trim(result->out)));
}

CheckResult check_disk(Context& context) {
  PosixFileSystem disk;
  std::filesystem::path folder = context.paths.state;
  while (!disk.exists(folder) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  const Result<std::uint64_t> free = disk.free_bytes(folder);
  if (!free)
    return bad("free space here", free.error());
  const bool low = *free < 5'000'000'000;
  return {"free space here", low ? CheckStatus::warning : CheckStatus::good, human_bytes(*free), low ? "the reference's environment may need several GB (torch)" : ""};
}

CheckResult check_daemon_binary(Context& context) {
  const Result<std::string> daemon = local_daemon(context);
  return daemon ? good("daemon for host local", *daemon) : bad("daemon for host local", daemon.error());
}

CheckResult check_ssh_config(Context& context) {
  const std::string& file = context.config.text("ssh.config");
  PosixFileSystem disk;
  if (!file.empty() && !disk.exists(file))
    return {"ssh configuration", CheckStatus::bad, file + " does not exist", "correct the setting: remotemac config ssh.config PATH"};
  return good("ssh configuration", file.empty() ? "~/.ssh/config" : file);
}
const PayloadSystem k_mac{"Darwin", "arm64"};

CheckResult payload_check(const std::filesystem::path& executable, const PayloadSystem& system) {
  const std::string name = "programs for " + clean_line(system.system, 40) + " " + clean_line(system.machine, 40);
  const Result<Payload> payload = find_payload(executable, system.system, system.machine);
  if (!payload)
    return bad(name, payload.error());
  const auto workers = std::count_if(payload->files.begin(), payload->files.end(), [](const Payload::File& file) { return file.name.starts_with("remotemac-worker"); });
  if (workers == 0)
    return {name, CheckStatus::warning, payload->version_name + ", without a worker", "put remotemac-worker for that system beside its remotemacd: without it battery and replay are missing from the evidence"};
  return good(name, payload->version_name + ", can be installed there");
}

CheckResult host_payload_check(const std::filesystem::path& executable, const HostRecord& host) {
  const std::string name = "programs for host " + host.name;
  const std::string again = "remotemac host add " + host.name + " " + clean_line(host.destination, 200) + " --replace";
  if (host.system.empty() || host.machine.empty())
    return {name, CheckStatus::skipped, "its system is not recorded", again};
  const std::string system = clean_line(host.system, 40) + " " + clean_line(host.machine, 40);
  const Result<Payload> payload = find_payload(executable, host.system, host.machine);
  if (!payload)
    return {name, CheckStatus::warning, system + ": " + payload.error().message() + "; what is installed there goes on working, but cannot be renewed", payload.error().hint()};
  const std::string installed = std::filesystem::path(host.install_dir).filename().string();
  if (installed != payload->version_name)
    return {name, CheckStatus::warning, system + ": " + clean_line(installed, 80) + " is installed there, " + payload->version_name + " is here", again};
  return good(name, system + ": " + payload->version_name + " is here and installed there");
}
} // namespace

std::vector<CheckResult> check_payloads(const std::filesystem::path& executable, const std::vector<HostRecord>& hosts) {
  std::vector<CheckResult> out;
  bool mac = false;
  for (const PayloadSystem& system : payload_systems(executable)) {
    mac = mac || (system.system == k_mac.system && system.machine == k_mac.machine);
    out.push_back(payload_check(executable, system));
  }
  if (!mac) {
    const Result<Payload> missing = find_payload(executable, k_mac.system, k_mac.machine);
    out.push_back({"programs for Darwin arm64", CheckStatus::warning, "not here: no real Mac can be set up from this machine", missing ? "" : "build remotemac's sources on a Mac, then " + missing.error().hint()});
  }
  for (const HostRecord& host : hosts) {
    if (!host.is_local())
      out.push_back(host_payload_check(executable, host));
  }
  return out;
}

std::vector<CheckResult> check_machine(Context& context) {
  std::vector<CheckResult> out{check_python(context), check_disk(context), check_daemon_binary(context), check_ssh_config(context)};
  const Result<HostStore> hosts = HostStore::load(context.paths, context.config);
  out.push_back(hosts ? good("hosts", std::to_string(hosts->hosts().size() - 1) + " besides local") : bad("hosts", hosts.error()));
  for (CheckResult& each : check_payloads(context.executable, hosts ? hosts->hosts() : std::vector<HostRecord>()))
    out.push_back(std::move(each));
  return out;
}

std::vector<CheckResult> check_project(Context& context, const std::string& folder) {
  std::vector<CheckResult> out;
  const Result<std::filesystem::path> root = find_project_root(folder);
  if (!root)
    return {{"project", CheckStatus::skipped, "no remotemac.toml here", "remotemac init"}};
  const Result<ProjectFile> project = read_project_file(*root);
  if (!project)
    return {bad("project file", project.error())};
  out.push_back(good("project file", project->name + ", purpose " + project->purpose));
  if (project->command.empty())
    out.push_back({"command", CheckStatus::bad, "none", "write [run] command in remotemac.toml"});
  const Result<policies::ProjectPolicy> policy = policies::parse_project_policy(project->file_text, k_project_file_name);
  if (!policy)
    out.push_back(bad("declarations", policy.error()));
  else
    out.push_back(good("declarations", std::to_string(policy->data.size()) + " data sets, " + std::to_string(policy->excludes.size()) + " exclusions"));
  PosixFileSystem disk;
  for (const RelPath& file : project->requirements) {
    if (!disk.exists(*root / file.text()))
      out.push_back({"requirements", CheckStatus::bad, file.text() + " does not exist", "correct [run] requirements"});
  }
  static_cast<void>(context);
  return out;
}

std::vector<CheckResult> check_host(Context& context, const HostRecord& host) {
  std::vector<CheckResult> out;
  const Result<Session> session = open_session(context, host);
  if (!session)
    return {bad("connection to " + host.name, session.error())};
  out.push_back(good("connection to " + host.name, session->transport->describe() + ", daemon " + session->client->daemon_version()));
  const Result<nlohmann::json> facts = session->client->host_facts();
  if (!facts) {
    out.push_back(bad("facts of " + host.name, facts.error()));
    return out;
  }
  const std::string os = clean_line(json_text(*facts, "os"), 40);
  out.push_back({"system", os == "Darwin" ? CheckStatus::good : CheckStatus::warning, os + " " + clean_line(json_text(*facts, "os_version"), 60) + " " + clean_line(json_text(*facts, "arch"), 20),
                 os == "Darwin" ? "" : "this is not a Mac: what it shows about MPS is simulated at best"});
  if (json_flag(*facts, "virtual_machine"))
    out.push_back({"virtual machine", CheckStatus::warning, "yes", "a virtual Mac can never be suitable; rent bare metal"});
  const std::int64_t free = json_int(*facts, "disk_free_bytes", -1);
  if (free >= 0)
    out.push_back({"free space there", free < 10'000'000'000 ? CheckStatus::warning : CheckStatus::good, human_bytes(static_cast<std::uint64_t>(free)), free < 10'000'000'000 ? "an environment with torch needs several GB" : ""});
  const nlohmann::json& workers = json_at(*facts, "workers");
  if (!workers.is_array() || workers.empty()) {
    out.push_back({"workers", CheckStatus::bad, "none installed", "the battery and the replay cannot run; remotemac host add " + host.name + " ... --replace installs them"});
  } else {
    std::vector<std::string> versions;
    for (const nlohmann::json& worker : workers)
      versions.push_back(clean_line(json_text(worker, "torch"), 40));
    out.push_back(good("workers", "torch " + join(versions, ", ")));
  }
  const nlohmann::json& pythons = json_at(*facts, "pythons");
  out.push_back(pythons.is_array() && !pythons.empty() ? good("python there", clean_line(json_text(pythons.front(), "version"), 40)) : CheckResult{"python there", CheckStatus::bad, "none found", "install Python 3 on the host, or name one: host add --python"});
  const nlohmann::json& encryption = json_at(*facts, "disk_encryption");
  if (!host.is_local())
    out.push_back({"disk encryption", encryption.is_boolean() && encryption.get<bool>() ? CheckStatus::good : CheckStatus::warning, encryption.is_boolean() ? (encryption.get<bool>() ? "on" : "off") : "not known", "ask the provider; switch FileVault on where you can"});
  return out;
}

} // namespace remotemac::cli
