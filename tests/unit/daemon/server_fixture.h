#pragma once
// The daemon's server in this process, over a disk that can be held or made to fail, and clients that speak the protocol by hand over its
// socket. Jobs end at once: no shim can be started here.
#include "common/byte_stream.h"
#include "common/frame.h"
#include "daemon/handlers.h"
#include "daemon/server.h"
#include "tests/unit/daemon/store_fixture.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

namespace remotemac::daemon {

// A deadline, not an expectation: under the sanitizers the largest answer alone takes half a minute and more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::chrono::seconds k_soon{240};
#else
inline constexpr std::chrono::seconds k_soon{60};
#endif

class Caller {
public:
  enum class Greet { yes, no };
  explicit Caller(const std::filesystem::path& socket, Greet greet = Greet::yes);
  void request(const std::string& method, const nlohmann::json& params);
  void send_frame(FrameType type, std::string_view payload);
  // The next control frame; null when the daemon hung up.
  [[nodiscard]] nlohmann::json receive();
  // result, or the whole message when it is an error.
  nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object());
  [[nodiscard]] bool hung_up();
  [[nodiscard]] nlohmann::json offer(const Manifest& manifest);
  [[nodiscard]] nlohmann::json put(const Files& files);

private:
  std::unique_ptr<ByteStream> m_stream;
  std::int64_t m_id = 0;
};

class ServerFixture : public StoreFixture {
protected:
  void start(const ServerTimes& times = {});
  void SetUp() override;
  void TearDown() override;
  [[nodiscard]] Caller caller(Caller::Greet greet = Caller::Greet::yes) const { return Caller(m_socket, greet); }
  // Offered, stored and built.
  [[nodiscard]] Digest push(Caller& by, const Files& files);
  [[nodiscard]] std::string submit(Caller& by, const Digest& snapshot);
  [[nodiscard]] std::filesystem::path state() const { return m_dir / "state"; }

private:
  class NoShims final : public ShimHost {
  public:
    Result<pid_t> start(const JobPaths&) override { return Error(ErrorCode::process, "no processes here"); }
    bool alive(const JobPaths&) override { return false; }
    bool ended(pid_t) override { return true; }
    void kill_leftovers(const std::string&) override {}
  };
  NoShims m_shims;
  SystemClock m_real_clock;
  PosixProcessRunner m_runner;
  std::filesystem::path m_socket;
  std::thread m_server;
};

} // namespace remotemac::daemon
