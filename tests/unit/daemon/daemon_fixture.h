#pragma once
// A real remotemacd in a folder of its own, reached the way a client reaches it: `connect` as a child process. Everything that was
// started is ended in TearDown, by the process ids that the locks name.
#include "common/frame.h"
#include "common/job.h"
#include "common/manifest.h"
#include "daemon/job_store.h"
#include "sync/local_transport.h"
#include "sync/remote_client.h"
#include "tests/support/temp_dir.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace remotemac::daemon {

inline constexpr std::chrono::seconds k_patience{60};

// Waits until `holds`, looking again and again; false at the deadline.
[[nodiscard]] bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit = k_patience);

// The protocol by hand, for the messages that RemoteClient keeps to itself and for clients that misbehave.
class RawClient {
public:
  RawClient(const std::filesystem::path& state_dir, bool greet);
  void send_json(const nlohmann::json& message);
  void send_frame(FrameType type, std::string_view payload);
  void send_bytes(std::string_view bytes);
  // The next control frame; null when the daemon hung up.
  [[nodiscard]] nlohmann::json receive();
  // result, or the whole message when it is an error.
  [[nodiscard]] nlohmann::json call(const std::string& method, const nlohmann::json& params);
  void request(const std::string& method, const nlohmann::json& params);
  [[nodiscard]] bool hung_up();

private:
  std::unique_ptr<ByteStream> m_stream;
  std::int64_t m_id = 0;
};

using Files = std::map<std::string, std::string>;
[[nodiscard]] Manifest manifest_of(const Files& files);
[[nodiscard]] std::string pack_of(const std::vector<std::pair<Digest, std::string>>& records);

class DaemonFixture : public testing::Test {
protected:
  // As in every program of ours: a write to a daemon that died is an error and not our death.
  void SetUp() override;
  void TearDown() override;
  [[nodiscard]] const std::filesystem::path& state() const { return m_state; }
  [[nodiscard]] JobPaths job_paths(const std::string& job) const { return JobPaths{m_state / "jobs" / job}; }
  [[nodiscard]] std::unique_ptr<sync::RemoteClient> connect();
  [[nodiscard]] std::optional<pid_t> daemon_pid() const;
  // kill -9, and waits until it is gone.
  void kill_daemon();
  [[nodiscard]] Digest push(const Files& files);
  // One step named "run" that runs script.py.
  [[nodiscard]] JobSpec job_of(const std::string& script);
  [[nodiscard]] static JobRecord wait_for_end(sync::RemoteClient& client, const std::string& job);
  // Until the job's standard output holds the text.
  static void wait_for_output(sync::RemoteClient& client, const std::string& job, const std::string& text);
  [[nodiscard]] static std::string whole_log(sync::RemoteClient& client, const std::string& job, const std::string& stream, std::size_t piece = 1000);

private:
  test::TempDir m_dir;
  std::filesystem::path m_state = m_dir / "state";
};

} // namespace remotemac::daemon
