#pragma once
// The far end of a client's connection as a test wants it: a function on a thread of its own, which may lie, stall or hang up.
#include "common/frame.h"
#include "tests/support/streams.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>

namespace remotemac::test {

// What a script has to work with. Failures of the line end the script quietly: the client is what is tested.
class ServerSide {
public:
  explicit ServerSide(ByteStream& stream) : m_stream(stream) {}
  void send_bytes(std::string_view bytes);
  [[nodiscard]] bool write_one(char byte); // false: the client hung up
  void send_frame(FrameType type, std::string_view payload);
  void send_json(const nlohmann::json& message);
  void ready(const std::string& nonce) { send_bytes("REMOTEMAC-READY " + nonce + "\n"); }
  // The next control frame of the client; a null value at the end of the connection.
  [[nodiscard]] nlohmann::json next_request();
  [[nodiscard]] std::optional<Frame> next_frame();
  // Answers the request with this id.
  void result(const nlohmann::json& request, const nlohmann::json& result);
  void error(const nlohmann::json& request, const std::string& code, const std::string& message, const nlohmann::json& more_data);
  // Answers one hello properly.
  void hello();
  // Until the client hangs up.
  void wait_for_the_end();

private:
  ByteStream& m_stream;
};

class ScriptedServer {
public:
  using Script = std::function<void(ServerSide&)>;
  explicit ScriptedServer(Script script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  // The client's end; once.
  [[nodiscard]] std::unique_ptr<ByteStream> client_end() { return std::move(m_client_end); }

private:
  std::unique_ptr<ByteStream> m_client_end;
  std::unique_ptr<ByteStream> m_server_end;
  std::thread m_thread;
};

} // namespace remotemac::test
