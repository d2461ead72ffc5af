#pragma once
// The methods of docs/protocol.md that are one request and one answer, as blocking functions over the stores: everything from the
// peer is checked here. Not for methods with frames of their own (session.h) and not for waiting. The table says on which thread
// each method runs; Handlers itself has no state.
#include "common/clock.h"
#include "common/process_runner.h"
#include "daemon/blob_store.h"
#include "daemon/job_store.h"
#include "daemon/snapshot_store.h"
#include "daemon/state_dir.h"
#include "daemon/supervisor.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace remotemac::daemon {

// Everything that a daemon owns besides its connections. Made once by serve(). What belongs to which thread: engine.h. Reading jobs is free.
struct DaemonParts {
  FileSystem& disk;
  const Clock& clock;
  ProcessRunner& runner;
  StateDir state;
  std::filesystem::path program;
  BlobStore blobs;
  SnapshotStore snapshots;
  JobStore jobs;
  Supervisor supervisor;
  std::multiset<std::string> retiring; // snapshots that are being removed just now; once for each sweep that does it
};

class Reply {
public:
  Reply() = default;
  explicit Reply(nlohmann::json value) : result(std::move(value)) {}
  nlohmann::json result = nlohmann::json::object();
  std::string data;      // follows as one data frame when not empty
  bool nothing_yet = false; // the caller may wait and ask again
};

enum class Thread { jobs, readers, slow };

class Handlers {
public:
  explicit Handlers(DaemonParts& parts) : m_parts(parts) {}

  struct Method {
    std::string_view name;
    Thread thread;
    Result<Reply> (Handlers::*run)(const nlohmann::json& params);
  };
  // nullptr when there is no such method here.
  [[nodiscard]] static const Method* find(std::string_view name);
  [[nodiscard]] static std::vector<std::string> names();

private:
  Result<Reply> host_facts(const nlohmann::json& params);
  Result<Reply> submit(const nlohmann::json& params);
  Result<Reply> list(const nlohmann::json& params);
  Result<Reply> status(const nlohmann::json& params);
  Result<Reply> events(const nlohmann::json& params);
  Result<Reply> log(const nlohmann::json& params);
  Result<Reply> cancel(const nlohmann::json& params);
  Result<Reply> stat(const nlohmann::json& params);
  Result<Reply> fetch(const nlohmann::json& params);
  [[nodiscard]] nlohmann::json shown(JobRecord record) const;
  [[nodiscard]] Result<void> check_submission(const JobSpec& spec) const;

  static const Method k_methods[];
  DaemonParts& m_parts;
};

} // namespace remotemac::daemon
