#pragma once
// One connection: reads requests of docs/protocol.md one after the other and answers them in order. Keeps the offered manifest between
// offer and commit. Runs as one coroutine on the io_context; work is done on the engine's pools. What breaks the protocol ends it.
#include "daemon/engine.h"
#include "daemon/line.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace remotemac::daemon {

class Session {
public:
  // `stop` is called after daemon.stop was answered.
  Session(Engine& engine, asio::local::stream_protocol::socket socket, const LineTimes& times, std::function<void()> stop);
  // Until the connection ends. Never throws.
  [[nodiscard]] asio::awaitable<void> run();
  // Since when the client has nothing to ask; nullopt while it is being answered.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> idle_since() const { return m_idle_since; }
  void hang_up() { m_line.close(); }

private:
  class Announced;
  struct Request {
    std::int64_t id = 0;
    std::string method;
    nlohmann::json params;
  };
  enum class Next { go_on, hang_up };

  [[nodiscard]] asio::awaitable<void> serve();
  // nullopt: the client is done.
  [[nodiscard]] Task<std::optional<Request>> next_request();
  [[nodiscard]] static Result<Request> parse(const Frame& frame);
  [[nodiscard]] Task<Reply> answer(const Request& request);
  [[nodiscard]] Task<void> send(const Request& request, const Result<Reply>& reply);
  [[nodiscard]] Result<Reply> hello(const nlohmann::json& params);
  [[nodiscard]] Task<Reply> ask_handler(const Handlers::Method& method, const nlohmann::json& params);
  [[nodiscard]] Task<Reply> offer(const nlohmann::json& params);
  [[nodiscard]] Task<std::shared_ptr<const Manifest>> read_manifest(const Digest& digest, std::uint64_t size_bytes, std::uint64_t parts);
  [[nodiscard]] Result<Reply> look_at_offer(const std::shared_ptr<const Manifest>& offered, const Digest& digest);
  [[nodiscard]] Task<Reply> put_blobs();
  [[nodiscard]] Task<Reply> commit(const nlohmann::json& params);
  [[nodiscard]] Task<Reply> forget(const nlohmann::json& params);

  Engine& m_engine;
  Line m_line;
  Handlers m_handlers;
  std::function<void()> m_stop;
  std::shared_ptr<const Manifest> m_offer;
  Digest m_offer_digest;
  bool m_greeted = false;
  std::optional<std::chrono::steady_clock::time_point> m_idle_since;
  Next m_next = Next::go_on;
};

} // namespace remotemac::daemon
