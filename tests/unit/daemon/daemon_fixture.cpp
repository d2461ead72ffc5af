#include "tests/unit/daemon/daemon_fixture.h"

#include "common/json.h"
#include "common/zstd.h"
#include "daemon/file_lock.h"

#include <csignal>
#include <poll.h>

namespace remotemac::daemon {
namespace {
constexpr const char* k_nonce = "0123456789abcdef0123456789abcdef";
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
} // namespace

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit) {
  const Deadline deadline(limit);
  while (!holds()) {
    if (deadline.passed())
      return false;
    ::poll(nullptr, 0, 10); // between two looks at the condition
  }
  return true;
}

RawClient::RawClient(const std::filesystem::path& state_dir, bool greet) {
  auto stream = spawn_stream({REMOTEMACD, "connect", "--nonce", k_nonce, "--state-dir", state_dir.string()});
  if (!stream)
    throw std::runtime_error(stream.error().chain());
  m_stream = std::move(*stream);
  const std::string wanted = std::string("REMOTEMAC-READY ") + k_nonce + "\n";
  std::vector<std::uint8_t> line(wanted.size());
  const Result<void> got = read_exactly(*m_stream, line, Deadline(k_patience));
  if (!got || std::string(line.begin(), line.end()) != wanted)
    throw std::runtime_error("no greeting: " + m_stream->side_messages());
  if (greet && call("hello", {{"client_version", "test"}, {"protocol_min", 1}, {"protocol_max", 1}}).value("protocol", 0) != 1)
    throw std::runtime_error("hello was not answered");
}

void RawClient::send_json(const nlohmann::json& message) { (void)write_control(*m_stream, message, Deadline(k_patience)).has_value(); }
void RawClient::send_frame(FrameType type, std::string_view payload) { (void)write_frame(*m_stream, type, bytes_of(payload), Deadline(k_patience)).has_value(); }
void RawClient::send_bytes(std::string_view bytes) { (void)m_stream->write_all(bytes_of(bytes), Deadline(k_patience)).has_value(); }

nlohmann::json RawClient::receive() {
  const Result<std::optional<Frame>> frame = read_frame(*m_stream, Deadline(k_patience));
  if (!frame || !*frame || (*frame)->type != FrameType::control)
    return nullptr;
  return nlohmann::json::parse((*frame)->payload.begin(), (*frame)->payload.end(), nullptr, false);
}

void RawClient::request(const std::string& method, const nlohmann::json& params) {
  send_json({{"jsonrpc", "2.0"}, {"id", ++m_id}, {"method", method}, {"params", params}});
}

nlohmann::json RawClient::call(const std::string& method, const nlohmann::json& params) {
  request(method, params);
  const nlohmann::json answer = receive();
  return answer.is_object() && answer.contains("result") ? answer["result"] : answer;
}

bool RawClient::hung_up() {
  std::uint8_t byte = 0;
  const Result<std::size_t> got = m_stream->read_some({&byte, 1}, Deadline(k_patience));
  return got ? *got == 0 : got.error().code() == ErrorCode::connection;
}

Manifest manifest_of(const Files& files) {
  Manifest out;
  for (const auto& [name, content] : files) {
    ManifestFile file{RelPath::create(name).value(), content.size(), Exec::no, {}};
    if (!content.empty())
      file.chunks.push_back({sha256(content), static_cast<std::uint32_t>(content.size())});
    out.files.push_back(std::move(file));
  }
  return out;
}

std::string pack_of(const std::vector<std::pair<Digest, std::string>>& records) {
  std::string plain;
  for (const auto& [digest, content] : records) {
    plain.append(digest.bytes.begin(), digest.bytes.end());
    for (const unsigned shift : {24u, 16u, 8u, 0u})
      plain.push_back(static_cast<char>(static_cast<std::uint8_t>(content.size() >> shift)));
    plain += content;
  }
  const auto packed = zstd_compress(bytes_of(plain), 1).value();
  return {packed.begin(), packed.end()};
}

std::unique_ptr<sync::RemoteClient> DaemonFixture::connect() {
  static sync::LocalTransport transport;
  sync::ClientOptions options;
  options.program = REMOTEMACD;
  options.state_dir = m_state.string();
  auto client = sync::RemoteClient::connect(transport, options);
  if (!client)
    throw std::runtime_error(client.error().chain());
  return std::move(*client);
}

std::optional<pid_t> DaemonFixture::daemon_pid() const { return FileLock::holder(m_state / "serve.lock"); }

void DaemonFixture::kill_daemon() {
  const auto pid = daemon_pid();
  ASSERT_TRUE(pid);
  ::kill(*pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !daemon_pid(); }));
}

void DaemonFixture::SetUp() { ::signal(SIGPIPE, SIG_IGN); }

void DaemonFixture::TearDown() {
  std::error_code ignored;
  for (const auto& job : std::filesystem::directory_iterator(m_state / "jobs", ignored)) {
    const JobPaths paths{job.path()};
    if (const auto shim = FileLock::holder(paths.shim_lock()))
      ::kill(*shim, SIGTERM); // stops the job and everything of it
    EXPECT_TRUE(eventually([&] { return !FileLock::holder(paths.shim_lock()); })) << "a shim did not end";
  }
  if (const auto pid = daemon_pid())
    ::kill(*pid, SIGTERM);
  EXPECT_TRUE(eventually([&] { return !daemon_pid(); })) << "the daemon did not end";
}

Digest DaemonFixture::push(const Files& files) {
  RawClient raw(m_state, true);
  const Manifest manifest = manifest_of(files);
  const std::string text = manifest.canonical();
  const auto packed = zstd_compress(bytes_of(text), 1).value();
  raw.request("snapshot.offer", {{"manifest_digest", sha256(text).hex()}, {"size_bytes", text.size()}, {"parts", 1}});
  raw.send_frame(FrameType::manifest, {reinterpret_cast<const char*>(packed.data()), packed.size()});
  const nlohmann::json offered = raw.receive();
  EXPECT_TRUE(offered.contains("result")) << offered.dump();
  raw.request("blobs.put", nlohmann::json::object());
  for (const auto& [name, content] : files) {
    if (!content.empty())
      raw.send_frame(FrameType::pack, pack_of({{sha256(content), content}}));
  }
  raw.send_frame(FrameType::pack, "");
  const nlohmann::json stored = raw.receive();
  EXPECT_TRUE(stored.contains("result")) << stored.dump();
  const nlohmann::json built = raw.call("snapshot.commit", {{"manifest_digest", sha256(text).hex()}});
  EXPECT_EQ(built.value("snapshot", ""), sha256(text).hex()) << built.dump();
  return sha256(text);
}

JobSpec DaemonFixture::job_of(const std::string& script) {
  JobSpec spec;
  spec.project = "example";
  spec.snapshot = push({{"script.py", script}});
  JobStep step;
  step.name = "run";
  step.mode = "mini-run";
  step.device = "cpu";
  step.fallback = "none";
  step.argv = {"script.py"};
  spec.steps.push_back(std::move(step));
  return spec;
}

JobRecord DaemonFixture::wait_for_end(sync::RemoteClient& client, const std::string& job) {
  JobRecord record;
  const bool ended = eventually([&] {
    record = client.status(job).value();
    return is_final(record.state);
  });
  EXPECT_TRUE(ended) << "the job did not end";
  return record;
}

void DaemonFixture::wait_for_output(sync::RemoteClient& client, const std::string& job, const std::string& text) {
  std::string seen;
  const bool found = eventually([&] {
    const auto part = client.log(job, "run.stdout", seen.size(), 10'000, std::chrono::milliseconds(200));
    if (part)
      seen.append(part->bytes.begin(), part->bytes.end());
    return seen.find(text) != std::string::npos;
  });
  ASSERT_TRUE(found) << "seen: " << seen << "\n" << whole_log(client, job, "environment");
}

std::string DaemonFixture::whole_log(sync::RemoteClient& client, const std::string& job, const std::string& stream, std::size_t piece) {
  std::string out;
  const Deadline deadline(k_patience);
  while (!deadline.passed()) {
    const auto part = client.log(job, stream, out.size(), piece, std::chrono::milliseconds(500));
    if (!part) {
      ADD_FAILURE() << part.error().chain();
      return out;
    }
    out.append(part->bytes.begin(), part->bytes.end());
    if (part->end)
      return out;
  }
  ADD_FAILURE() << "the log " << stream << " has no end";
  return out;
}

} // namespace remotemac::daemon
