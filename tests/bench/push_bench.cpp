// One push as the product does it, from a cold start of the program: log in, judge the whole project, make the audit record durable,
// send what the host lacks. bench.py measures this program from outside, as it measures rsync; the parts go to standard output as JSON.
#include "common/file_system.h"
#include "common/json.h"
#include "common/text.h"
#include "policies/audit_log.h"
#include "policies/gate.h"
#include "sync/ssh/ssh_transport.h"
#include "sync/uploader.h"

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

namespace {
using namespace remotemac;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

using Arguments = std::map<std::string, std::string>;
constexpr const char* k_names[] = {"project", "ssh-config", "destination", "fingerprint", "daemon", "state-dir", "client-dir"};

Result<std::unique_ptr<sync::RemoteClient>> log_in(const Arguments& arguments, std::unique_ptr<sync::SshTransport>& transport) {
  sync::SshOptions ssh;
  ssh.config_file = arguments.at("ssh-config");
  ssh.pinned.push_back({"", arguments.at("fingerprint")});
  RM_ASSIGN(transport, sync::SshTransport::connect(arguments.at("destination"), ssh));
  sync::ClientOptions options;
  options.program = arguments.at("daemon");
  options.state_dir = arguments.at("state-dir");
  return sync::RemoteClient::connect(*transport, options);
}

Result<policies::Judgement> judge(const Arguments& arguments) {
  const std::filesystem::path root = arguments.at("project");
  PosixFileSystem disk;
  RM_ASSIGN(const std::string text, disk.read_file(root / "remotemac.toml", 1 << 20));
  RM_ASSIGN(const policies::ProjectPolicy policy, policies::parse_project_policy(text, "remotemac.toml"));
  const auto cache = policies::open_judge_cache(std::filesystem::path(arguments.at("client-dir")) / "judged.sqlite");
  policies::JudgeRequest request;
  request.root = root;
  request.policy = &policy;
  request.host.name = "standin";
  request.purpose = "bench";
  request.now = std::chrono::system_clock::now();
  request.cache = cache.get();
  return policies::judge(request);
}

Result<nlohmann::json> push_once(const Arguments& arguments) {
  const Clock::time_point begin = Clock::now();
  RM_ASSIGN(const policies::Judgement judgement, judge(arguments));
  const double judged = seconds_since(begin);
  if (judgement.totals.refused != 0)
    return Error(ErrorCode::refused, std::to_string(judgement.totals.refused) + " files of the bench project were refused");
  std::unique_ptr<sync::SshTransport> transport;
  RM_ASSIGN(const std::unique_ptr<sync::RemoteClient> client, log_in(arguments, transport));
  const double logged_in = seconds_since(begin);
  PosixFileSystem disk;
  policies::AuditLog log(disk, std::filesystem::path(arguments.at("client-dir")) / "audit");
  sync::PushOptions options;
  options.before_first_byte = [&]() -> Result<void> {
    RM_ASSIGN(const std::string list, log.store_file_list(judgement));
    return log.append("transfer", rfc3339(std::chrono::system_clock::now()), {{"files", list}, {"host", "standin"}});
  };
  RM_ASSIGN(const sync::PushReport report, sync::push(*client, judgement.approved, options));
  return nlohmann::json{{"judge_s", judged}, {"login_s", logged_in - judged}, {"push_s", report.seconds}, {"files", report.files},
                        {"bytes", report.bytes_total}, {"bytes_sent", report.bytes_sent}, {"chunks_sent", report.chunks_sent}};
}

Result<nlohmann::json> stop(const Arguments& arguments) {
  std::unique_ptr<sync::SshTransport> transport;
  RM_ASSIGN(const std::unique_ptr<sync::RemoteClient> client, log_in(arguments, transport));
  RM_TRY(client->stop());
  return nlohmann::json{{"stopped", true}};
}
} // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 2; i + 1 < argc; i += 2)
    arguments[std::string(argv[i]).substr(2)] = argv[i + 1];
  const std::string task = argc > 1 ? argv[1] : "";
  for (const char* name : k_names) {
    if (!arguments.contains(name) || (task != "push" && task != "stop")) {
      std::cerr << "push_bench push|stop, and a value for each of: --" << join(std::vector<std::string>(std::begin(k_names), std::end(k_names)), " --") << "\n";
      return exit_status(ErrorCode::usage);
    }
  }
  const Result<nlohmann::json> done = task == "push" ? push_once(arguments) : stop(arguments);
  if (!done) {
    std::cerr << "push_bench: " << done.error().chain() << "\n";
    return exit_status(done.error().code());
  }
  std::cout << dump_json(*done, -1) << "\n";
  return 0;
}
