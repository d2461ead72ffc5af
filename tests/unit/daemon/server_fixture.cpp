#include "tests/unit/daemon/server_fixture.h"

#include "common/zstd.h"

#include <csignal>
#include <sys/socket.h>
#include <sys/un.h>

namespace remotemac::daemon {
namespace {
using nlohmann::json;
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

std::string packed(const std::string& text) {
  const auto bytes = zstd_compress(bytes_of(text), 1).value();
  return {bytes.begin(), bytes.end()};
}

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path)
    throw std::runtime_error("the temporary folder's path is too long for a socket");
  std::copy(text.begin(), text.end(), address.sun_path);
  return address;
}

UniqueFd listening(const std::filesystem::path& path) {
  UniqueFd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(made.get(), 64) != 0)
    throw std::runtime_error("no socket to listen at");
  return made;
}
} // namespace

Caller::Caller(const std::filesystem::path& socket, Greet greet) {
  UniqueFd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(socket);
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("nobody listens");
  UniqueFd other(::dup(made.get()));
  m_stream = make_fd_stream(std::move(made), std::move(other));
  if (greet == Greet::yes && call("hello", {{"client_version", "test"}, {"protocol_min", 1}, {"protocol_max", 1}}).value("protocol", 0) != 1)
    throw std::runtime_error("hello was not answered");
}

void Caller::request(const std::string& method, const json& params) {
  const json message{{"jsonrpc", "2.0"}, {"id", ++m_id}, {"method", method}, {"params", params}};
  (void)write_control(*m_stream, message, Deadline(k_soon)).has_value();
}

void Caller::send_frame(FrameType type, std::string_view payload) { (void)write_frame(*m_stream, type, bytes_of(payload), Deadline(k_soon)).has_value(); }

json Caller::receive() {
  const Result<std::optional<Frame>> frame = read_frame(*m_stream, Deadline(k_soon));
  if (!frame || !*frame || (*frame)->type != FrameType::control)
    return nullptr;
  return json::parse((*frame)->payload.begin(), (*frame)->payload.end(), nullptr, false);
}

json Caller::call(const std::string& method, const json& params) {
  request(method, params);
  const json answer = receive();
  return answer.is_object() && answer.contains("result") ? answer["result"] : answer;
}

bool Caller::hung_up() {
  std::uint8_t byte = 0;
  const Result<std::size_t> got = m_stream->read_some({&byte, 1}, Deadline(k_soon));
  return got ? *got == 0 : got.error().code() == ErrorCode::connection;
}

json Caller::offer(const Manifest& manifest) {
  const std::string text = manifest.canonical();
  request("snapshot.offer", {{"manifest_digest", sha256(text).hex()}, {"size_bytes", text.size()}, {"parts", 1}});
  send_frame(FrameType::manifest, packed(text));
  return receive();
}

json Caller::put(const Files& files) {
  request("blobs.put", json::object());
  for (const auto& [name, content] : files) {
    const Digest digest = sha256(content);
    std::string record(digest.bytes.begin(), digest.bytes.end());
    for (const unsigned shift : {24u, 16u, 8u, 0u})
      record.push_back(static_cast<char>(static_cast<std::uint8_t>(content.size() >> shift)));
    send_frame(FrameType::pack, packed(record + content));
  }
  send_frame(FrameType::pack, "");
  return receive();
}

void ServerFixture::SetUp() { (void)std::signal(SIGPIPE, SIG_IGN); }

void ServerFixture::start(const ServerTimes& times) {
  const StateDir folders = StateDir::open(m_disk, state()).value();
  m_socket = m_dir / "s";
  m_server = std::thread([this, folders, times, socket = listening(m_socket)]() mutable {
    // Filled in place and in order: the later parts refer to the earlier ones.
    DaemonParts parts{m_disk,
                      m_real_clock,
                      m_runner,
                      folders,
                      "/nowhere/remotemacd",
                      BlobStore(m_disk, folders.blobs()),
                      SnapshotStore(m_disk, parts.blobs, folders.snapshots()),
                      JobStore(m_disk, m_real_clock, folders.jobs(), "boot-1"),
                      Supervisor(m_disk, parts.jobs, m_shims, m_real_clock, "boot-1"),
                      {}};
    EXPECT_TRUE(serve_parts(parts, std::move(socket), times).has_value());
  });
}

void ServerFixture::TearDown() {
  m_disk.release();
  if (!m_server.joinable())
    return;
  caller().call("daemon.stop");
  m_server.join();
}

Digest ServerFixture::push(Caller& by, const Files& files) {
  const Manifest manifest = manifest_of(files, k_chunk_bytes);
  EXPECT_TRUE(by.offer(manifest).contains("result"));
  EXPECT_TRUE(by.put(files).contains("result"));
  EXPECT_EQ(by.call("snapshot.commit", {{"manifest_digest", manifest.digest().hex()}}).value("snapshot", ""), manifest.digest().hex());
  return manifest.digest();
}

std::string ServerFixture::submit(Caller& by, const Digest& snapshot) {
  const json answer = by.call("job.submit", {{"spec", to_json(spec_of(snapshot))}});
  EXPECT_TRUE(answer.contains("job")) << answer.dump();
  return answer.value("job", "");
}

} // namespace remotemac::daemon
