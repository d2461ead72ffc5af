#include "tests/support/sshd_fixture.h"

#include "common/check.h"
#include "common/fd.h"
#include "common/process_runner.h"
#include "common/text.h"

#include <arpa/inet.h>
#include <csignal>
#include <fstream>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char** environ;

namespace remotemac::test {
namespace {
constexpr const char* k_sshd = "/usr/sbin/sshd";

Result<std::string> run(std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  RM_ASSIGN(const ProcessResult result, PosixProcessRunner().run(spec));
  if (result.exit_code != 0)
    return Error(ErrorCode::process, spec.argv[0] + " failed: " + clean_line(result.err));
  return result.out;
}

Result<pid_t> spawn(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0)
    return Error(ErrorCode::process, words[0] + " could not be started");
  return pid;
}

int free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  RM_CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  RM_CHECK(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// pid -> (parent, command line), of all processes.
std::map<pid_t, std::pair<pid_t, std::string>> processes() {
  std::map<pid_t, std::pair<pid_t, std::string>> out;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::string stat;
    std::getline(std::ifstream(entry.path() / "stat"), stat);
    std::string command;
    std::getline(std::ifstream(entry.path() / "cmdline"), command);
    const std::size_t end = stat.rfind(')');
    int parent = 0;
    char state = 0;
    if (end != std::string::npos && std::sscanf(stat.c_str() + end + 1, " %c %d", &state, &parent) == 2)
      out[std::stoi(name)] = {parent, command};
  }
  return out;
}
} // namespace

void make_key(const std::filesystem::path& file, const std::string& type, const std::string& passphrase) {
  std::filesystem::remove(file);
  std::filesystem::remove(file.string() + ".pub");
  RM_CHECK(run({"ssh-keygen", "-q", "-t", type, "-N", passphrase, "-C", "test", "-f", file.string()}).has_value());
}

Result<std::unique_ptr<SshdFixture>> SshdFixture::start(const SshdOptions& options) {
  if (::access(k_sshd, X_OK) != 0)
    return Error(ErrorCode::setup, "there is no /usr/sbin/sshd", "apt-get install openssh-server");
  if (::geteuid() == 0)
    ::mkdir("/run/sshd", 0755);
  std::unique_ptr<SshdFixture> fixture(new SshdFixture);
  const passwd* entry = ::getpwuid(::geteuid());
  RM_CHECK(entry != nullptr);
  fixture->m_user = entry->pw_name;
  if (options.via == SshdVia::port)
    fixture->m_port = free_port();
  RM_TRY(fixture->make_keys());
  RM_TRY(fixture->configure(options));
  if (options.via == SshdVia::port)
    RM_TRY(fixture->listen());
  return fixture;
}

SshdFixture::~SshdFixture() {
  kill_connections();
  if (m_server > 0) {
    ::kill(m_server, SIGKILL);
    ::waitpid(m_server, nullptr, 0);
  }
}

Result<void> SshdFixture::make_keys() {
  make_key(m_dir / "host_key");
  make_key(m_dir / "client_key");
  std::filesystem::create_directory(home());
  std::filesystem::copy_file(m_dir / "client_key.pub", m_dir / "authorized_keys");
  return ok();
}

Result<void> SshdFixture::configure(const SshdOptions& options) {
  const std::string dir = m_dir.path().string();
  std::string server = "HostKey " + dir + "/host_key\nAuthorizedKeysFile " + dir + "/authorized_keys\nPidFile none\nStrictModes no\n"
                       "UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\nMaxSessions 20\n"
                       "LogLevel VERBOSE\nPrintMotd no\nPermitRootLogin yes\nSetEnv HOME=" + dir + "/home\n";
  std::string client = "Host standin\n  User " + m_user + "\n  IdentityFile " + dir + "/client_key\n  UserKnownHostsFile " + dir + "/known_hosts\n";
  if (options.via == SshdVia::port) {
    server += "ListenAddress 127.0.0.1\nPort " + std::to_string(m_port) + "\n";
    client += "  HostName 127.0.0.1\n  Port " + std::to_string(m_port) + "\n";
  } else {
    client += "  HostName standin.invalid\n  ProxyCommand " + std::string(k_sshd) + " -i -f " + dir + "/sshd_config -E " + dir + "/sshd.log\n";
  }
  write_file(m_dir / "sshd_config", options.server_config + server);
  write_file(client_config(), client + options.client_config);
  return ok();
}

Result<void> SshdFixture::listen() {
  const std::string config = (m_dir / "sshd_config").string();
  RM_ASSIGN(m_server, spawn({k_sshd, "-D", "-f", config, "-E", (m_dir / "sshd.log").string()}));
  const Deadline deadline(std::chrono::seconds(10));
  while (!answers(m_port)) {
    if (deadline.passed() || ::waitpid(m_server, nullptr, WNOHANG) != 0)
      return Error(ErrorCode::setup, "sshd does not listen: " + this->log());
    ::poll(nullptr, 0, 5);
  }
  return ok();
}

std::string SshdFixture::host_key_fingerprint() const {
  const Result<std::string> out = run({"ssh-keygen", "-l", "-E", "sha256", "-f", (m_dir / "host_key.pub").string()});
  RM_CHECK(out.has_value());
  return split(*out, ' ').at(1);
}

void SshdFixture::change_host_key() {
  make_key(m_dir / "host_key");
  if (m_server > 0)
    ::kill(m_server, SIGHUP); // reads its keys anew
  const Deadline deadline(std::chrono::seconds(10));
  while (m_server > 0 && !answers(m_port) && !deadline.passed())
    ::poll(nullptr, 0, 5);
}

void SshdFixture::kill_connections() const { signal_connections(SIGKILL); }
void SshdFixture::freeze_connections() const { signal_connections(SIGSTOP); }

// sshd rewrites its command line ("sshd: user [priv]"), so its processes are found by descent: below the listener, or below this test.
void SshdFixture::signal_connections(int signal) const {
  const auto all = processes();
  const pid_t root = m_server > 0 ? m_server : ::getpid();
  for (const auto& [pid, info] : all) {
    if (pid == m_server || (!info.second.starts_with("sshd:") && !info.second.starts_with(k_sshd)))
      continue;
    pid_t above = info.first;
    for (auto parent = all.find(above); above != root && parent != all.end() && above > 1; parent = all.find(above))
      above = parent->second.first;
    if (above == root)
      ::kill(pid, signal);
  }
}

std::string SshdFixture::log() const {
  return std::filesystem::exists(m_dir / "sshd.log") ? read_file(m_dir / "sshd.log") : std::string();
}

Result<std::unique_ptr<AgentFixture>> AgentFixture::start(const std::filesystem::path& socket, const std::vector<std::filesystem::path>& keys) {
  std::unique_ptr<AgentFixture> agent(new AgentFixture);
  RM_ASSIGN(agent->m_agent, spawn({"ssh-agent", "-D", "-a", socket.string()}));
  const Deadline deadline(std::chrono::seconds(10));
  while (!std::filesystem::exists(socket)) {
    if (deadline.passed())
      return Error(ErrorCode::setup, "ssh-agent did not start");
    ::poll(nullptr, 0, 5);
  }
  for (const std::filesystem::path& key : keys)
    RM_TRY(run({"env", "SSH_AUTH_SOCK=" + socket.string(), "ssh-add", "-q", key.string()}));
  return agent;
}

AgentFixture::~AgentFixture() {
  if (m_agent > 0) {
    ::kill(m_agent, SIGTERM);
    ::waitpid(m_agent, nullptr, 0);
  }
}

} // namespace remotemac::test
