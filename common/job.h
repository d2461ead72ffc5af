#pragma once
// Jobs as both sides see them: specification, state, record, event. Plain values and their JSON forms (docs/protocol.md).
#include "common/digest.h"
#include "common/rel_path.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace remotemac {

enum class JobState { queued, preparing, running, succeeded, failed, timed_out, cancelled, lost };
[[nodiscard]] std::string_view state_name(JobState state);
[[nodiscard]] std::optional<JobState> state_from_name(std::string_view name);
[[nodiscard]] bool is_final(JobState state);

enum class StepKind { harness, worker };

struct JobStep {
  std::string name; // [a-z0-9-]{1,32}
  StepKind kind = StepKind::harness;
  std::string mode;     // harness: backend, mini-run
  std::string task;     // worker: battery, replay
  std::string device;   // mps, cuda, cpu, auto
  std::string fallback; // harness: strict, permissive, none
  bool record = false;
  std::string profile;   // worker battery: quick, standard, full
  std::string recording; // worker replay: path in the snapshot
  std::vector<std::string> argv;
  std::vector<RelPath> outputs;
  std::map<std::string, std::string> env;
};

struct JobLimits {
  std::uint64_t wall_s = 3600;      // the whole job without the environment stage
  std::uint64_t step_wall_s = 1800; // each step
  std::uint64_t output_bytes = std::uint64_t{1} << 30;
  std::uint64_t disk_bytes = std::uint64_t{10} << 30; // everything below work/
  std::uint64_t log_bytes = std::uint64_t{64} << 20;  // each stream
};

struct JobEnvironment {
  std::vector<RelPath> requirements;
  std::string python;        // interpreter on the host; "" = the host's default
  std::string packages_from; // interpreter whose packages are made visible; "" = none
};

struct JobSpec {
  std::string project;
  Digest snapshot;
  JobEnvironment environment;
  JobLimits limits;
  std::uint64_t keep_s = std::uint64_t{7} * 24 * 3600;
  std::vector<JobStep> steps;
  std::string submit_key; // 32 hex digits of the client's choice: submitting again under the same key gives the same job; "" = none
};

[[nodiscard]] nlohmann::json to_json(const JobSpec& spec);
// From untrusted JSON; checks names, counts (<= 64 steps, <= 1000 arguments) and lengths.
[[nodiscard]] Result<JobSpec> job_spec_from_json(const nlohmann::json& value);

struct StepRecord {
  std::string name;
  std::string kind;
  std::string state = "pending"; // pending, running, done
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason; // ok, exit, signal, wall-time, disk-limit, output-limit, cancelled, start-failed, no-worker
  double seconds = 0;
  std::uint64_t max_rss_bytes = 0;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  std::uint64_t dropped_bytes = 0;
};

struct EnvironmentRecord {
  std::string key;
  bool reused = false;
  double seconds = 0;
  std::string python;
  std::string torch;
  std::uint64_t log_bytes = 0;
};

struct JobRecord {
  std::string job;
  std::string project;
  std::string snapshot;
  JobState state = JobState::queued;
  std::string reason;
  std::string submitted;
  std::string started;  // "" = not yet
  std::string finished; // "" = not yet
  std::optional<EnvironmentRecord> environment;
  std::vector<StepRecord> steps;
  std::string network; // namespace, seccomp, sandbox, none
  std::map<std::string, std::string> environment_removed;
  std::string expires;
  std::string boot_id;
  std::string daemon_version;
};

[[nodiscard]] nlohmann::json to_json(const JobRecord& record);
[[nodiscard]] Result<JobRecord> job_record_from_json(const nlohmann::json& value);

// "j" + 12 lower-case base32 characters.
[[nodiscard]] std::string new_job_id();
// Always the same one for a submit key.
[[nodiscard]] std::string job_id_of_key(std::string_view submit_key);
[[nodiscard]] bool is_job_id(std::string_view text);
[[nodiscard]] bool is_step_name(std::string_view text);

} // namespace remotemac
