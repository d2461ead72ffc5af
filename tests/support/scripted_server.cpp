#include "tests/support/scripted_server.h"

#include "common/json.h"

#include <csignal>
#include <nlohmann/json.hpp>

namespace remotemac::test {
namespace {
Deadline patience() { return Deadline(std::chrono::seconds(60)); }
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
} // namespace

void ServerSide::send_bytes(std::string_view bytes) { static_cast<void>(m_stream.write_all(bytes_of(bytes), patience())); }

bool ServerSide::write_one(char byte) { return m_stream.write_all(bytes_of(std::string_view(&byte, 1)), patience()).has_value(); }

void ServerSide::send_frame(FrameType type, std::string_view payload) { static_cast<void>(m_stream.write_all(encode_frame(type, bytes_of(payload)), patience())); }

void ServerSide::send_json(const nlohmann::json& message) { static_cast<void>(write_control(m_stream, message, patience())); }

std::optional<Frame> ServerSide::next_frame() {
  Result<std::optional<Frame>> frame = read_frame(m_stream, patience());
  return frame ? std::move(*frame) : std::nullopt;
}

nlohmann::json ServerSide::next_request() {
  const std::optional<Frame> frame = next_frame();
  if (!frame || frame->type != FrameType::control)
    return {};
  const Result<nlohmann::json> parsed = parse_json({reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size()}, "a request");
  return parsed ? *parsed : nlohmann::json();
}

void ServerSide::result(const nlohmann::json& request, const nlohmann::json& result) {
  send_json({{"jsonrpc", "2.0"}, {"id", json_int(request, "id")}, {"result", result}});
}

void ServerSide::error(const nlohmann::json& request, const std::string& code, const std::string& message, const nlohmann::json& more_data) {
  nlohmann::json data = {{"code", code}, {"hint", "a hint"}};
  if (more_data.is_object())
    data.update(more_data);
  send_json({{"jsonrpc", "2.0"}, {"id", json_int(request, "id")}, {"error", {{"code", -32000}, {"message", message}, {"data", data}}}});
}

void ServerSide::hello() {
  const nlohmann::json request = next_request();
  result(request, {{"daemon_version", "0.1.0"}, {"protocol", 1}, {"features", {"one"}}, {"state_dir", "/far/state"}});
}

void ServerSide::wait_for_the_end() {
  std::vector<std::uint8_t> buffer(65536);
  while (true) {
    const Result<std::size_t> got = m_stream.read_some(buffer, patience());
    if (!got || *got == 0)
      return;
  }
}

ScriptedServer::ScriptedServer(Script script) {
  ::signal(SIGPIPE, SIG_IGN);
  std::tie(m_client_end, m_server_end) = make_stream_pair();
  m_thread = std::thread([this, script = std::move(script)] {
    ServerSide side(*m_server_end);
    script(side);
    m_server_end->close();
  });
}

ScriptedServer::~ScriptedServer() {
  m_client_end.reset();
  m_thread.join();
}

} // namespace remotemac::test
