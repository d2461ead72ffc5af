#pragma once
// The evidence model: everything that a verdict rests on, as plain values with one JSON form (docs/evidence.md is its text).
// Not for judging (cli/verdict) and not for showing (cli/report). Reading is tolerant of missing and unknown keys and distrusts the
// far end: every text is cleaned and capped, every list is capped, paths that leave the project and absolute paths in messages are
// shortened. A version that this program does not know is refused. What could not be measured is nullopt or "". Never throws.
#include "common/job.h"
#include "common/result.h"
#include "common/survey.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

// --------------------------------------------------------------------------------------------------- harness document

struct SimulatedMark {
  std::optional<bool> value; // nullopt: the document does not say
  std::string reason;
};

struct PlatformFacts {
  std::string system;  // Darwin, Linux
  std::string release; // kernel
  std::string machine; // arm64, x86_64
  std::string macos;   // "" elsewhere
  std::optional<bool> virtual_machine;
};

struct PythonFacts {
  std::string version;
  std::string implementation;
};

struct TorchFacts {
  std::string version;
  std::string git_version;
  std::string cuda_build;
  std::optional<bool> mps_built;
  std::string error; // why it could not be imported
};

struct PackageVersion {
  std::string name;
  std::string version;
};

struct EnvironmentFacts {
  std::map<std::string, std::string> before;
  std::map<std::string, std::string> after;
  std::map<std::string, std::string> changed_by_project;
};

struct BackendStep {
  std::string name;
  bool ok = false;
  std::string detail;
};

struct BackendFacts {
  std::optional<bool> built;
  std::optional<bool> available;
  std::optional<bool> usable;
  std::uint64_t device_count = 0;
  std::string device_name;
  std::vector<BackendStep> steps;
};

struct ExceptionFacts {
  std::string type;
  std::string message;
  std::string file; // in the project, "" = elsewhere
  int line = 0;
};

enum class OutcomeStatus { ok, exception, exit, not_run };

struct Outcome {
  OutcomeStatus status = OutcomeStatus::not_run;
  std::optional<int> exit_code;
  std::optional<ExceptionFacts> exception;
};

struct DeviceUse {
  std::uint64_t operations = 0;
  std::uint64_t distinct = 0;
  std::uint64_t outputs_bytes = 0;
};

enum class OperationKind { native, composite, fallback };

struct OperationUse {
  std::string name; // aten::add.Tensor
  std::string device;
  std::uint64_t calls = 0;
  double time_s = 0;
  OperationKind kind = OperationKind::native;
};

struct FallbackUse {
  std::string op; // JSON key "operator"
  std::uint64_t calls = 0;
  double time_s = 0;
  std::optional<double> share; // of the time spent in operations
  std::string message;
};

struct UnsupportedUse {
  std::string op; // JSON key "operator"; "" when only a dtype is refused
  std::string message;
  std::string file;
  int line = 0;
};

struct TimingFacts {
  double wall_s = 0;
  std::uint64_t steps = 0;
  std::optional<double> first_step_s;
  std::optional<double> step_median_s;
  std::optional<double> step_p90_s;
  std::string step_source; // optimizer, none
};

struct MemorySample {
  std::uint64_t step = 0;
  std::uint64_t device_bytes = 0;
};

struct MemoryFacts {
  std::optional<std::uint64_t> peak_device_bytes;
  std::optional<std::uint64_t> peak_driver_bytes;
  std::optional<std::uint64_t> peak_rss_bytes;
  std::vector<MemorySample> samples;
  std::optional<double> slope_bytes_per_step;
};

struct SeedUse {
  std::string api;
  std::string value;
  bool operator==(const SeedUse&) const = default;
};

struct AutocastUse {
  std::string device;
  std::string dtype;
};

struct RunConditions {
  std::vector<SeedUse> seeds;
  std::string default_dtype;
  std::string float32_matmul_precision;
  std::optional<bool> allow_tf32;
  std::optional<bool> deterministic;
  std::optional<bool> cudnn_benchmark;
  std::vector<AutocastUse> autocast;
  std::optional<bool> compile_used;
  std::vector<std::int64_t> batch_sizes;
  std::vector<std::int64_t> dataloader_workers;
  std::optional<std::int64_t> threads;
  std::vector<std::string> rng_devices;
};

struct ImportUse {
  std::string module;
  std::string distribution;
  std::string file_in_project;
};

struct OutputFact {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::string sha256;
};

struct HarnessDocument {
  std::string mode; // backend, mini-run
  bool record = false;
  bool partial = false; // the process ended before the document was finished
  std::string device_requested;
  std::string fallback; // strict, permissive, none
  PlatformFacts platform;
  PythonFacts python;
  TorchFacts torch;
  std::vector<PackageVersion> packages;
  SimulatedMark simulated;
  EnvironmentFacts environment;
  BackendFacts backend;
  Outcome outcome;
  std::map<std::string, DeviceUse> device_use;
  std::map<std::string, std::uint64_t> parameters;
  std::vector<OperationUse> operations;
  std::vector<FallbackUse> fallbacks;
  std::vector<UnsupportedUse> unsupported;
  TimingFacts timing;
  MemoryFacts memory;
  std::optional<RunConditions> conditions;
  std::vector<ImportUse> imports;
  std::vector<OutputFact> outputs;
  std::vector<std::string> missing_outputs;
  std::vector<std::string> notes;
  std::uint64_t signatures = 0; // how many were recorded; they themselves travel as the recording

  [[nodiscard]] std::uint64_t operations_on(std::string_view device) const;
};

// ---------------------------------------------------------------------------------------------------- worker document

enum class GroupStatus { ok, crash, hang, error, not_run };
enum class FindingStatus { pass, note, not_tested, fail, crash, hang };
enum class ReplayStatus { native, fallback, unsupported, mismatch, crash, hang, not_tested };
enum class Band { equal, relaxed, outside };

struct NumericError {
  std::optional<double> max_abs;
  std::optional<double> max_rel;
  std::optional<double> reference_max_rel;
  Band band = Band::outside;
  std::uint64_t mismatches = 0;
  std::uint64_t elements = 0;
};

struct WorkerGroup {
  std::string name;
  GroupStatus status = GroupStatus::error;
  std::optional<int> signal;
  std::optional<int> exit_code;
  double seconds = 0;
  std::string last_case;
  std::string stderr_tail;
};

struct WorkerFinding {
  std::string id;
  std::string group;
  std::string op; // JSON key "operator"
  std::string case_name; // JSON key "case"
  FindingStatus status = FindingStatus::not_tested;
  std::string detail;
  std::string reproduce;
  std::optional<NumericError> error;
};

struct ReplayedSignature {
  std::uint64_t index = 0;
  std::string op; // JSON key "operator"
  std::uint64_t calls = 0;
  ReplayStatus status = ReplayStatus::not_tested;
  std::string detail;
  std::optional<double> seconds_per_call;
  std::optional<NumericError> error;
};

struct WorkerDocument {
  std::string kind; // battery, replay
  std::string torch_built_for;
  std::string torch_running;
  std::string device;
  SimulatedMark simulated;
  std::string profile;
  std::vector<WorkerGroup> groups;
  std::vector<WorkerFinding> findings;
  std::vector<ReplayedSignature> replay;
  std::map<std::string, std::uint64_t> counts;
};

// ---------------------------------------------------------------------------------------------- host, gate, transfer

struct HostFacts {
  std::string os; // Darwin, Linux
  std::string os_version;
  std::string arch;
  std::string chip;
  std::string model;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> disk_free_bytes;
  std::optional<bool> virtual_machine;
  std::optional<bool> disk_encryption;
  std::string boot_id;
  std::string hostname_hash;
  std::string daemon_version;
  std::string time;
};

struct GateClassCount {
  std::string name; // code, synthetic, anonymized, released
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

struct GateRuleCount {
  std::string rule;
  std::string layer;
  std::string verdict; // approved, refused, excluded, not-proposed
  std::uint64_t files = 0;
};

// Counts only: which files were refused, and why, is told by `remotemac plan` and never carried into evidence or reports.
struct GateSummary {
  std::string decision; // allowed, refused
  std::uint64_t approved_files = 0;
  std::uint64_t approved_bytes = 0;
  std::uint64_t refused_files = 0;
  std::uint64_t excluded_files = 0;
  std::uint64_t not_proposed_files = 0;
  std::vector<GateClassCount> classes;
  std::vector<GateRuleCount> rules;
  std::vector<std::string> layers;
  std::string policy_digest;
  std::uint64_t retention_s = 0; // how long the host keeps the job; 0 = not agreed
};

struct TransferFacts {
  std::uint64_t files = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t chunks_sent = 0;
  std::uint64_t chunks_present = 0;
  double seconds = 0;
  std::string snapshot;
  bool audited = false; // the record that allowed it was on disk before the first byte left
};

// -------------------------------------------------------------------------------------------------------- comparison

enum class ConditionStatus { same, different, missing };
enum class ConditionWeight { decides, noted };

struct ConditionPair {
  std::string name; // kebab-case id, one vocabulary: cli/compare/conditions.cpp
  std::string run;
  std::string reference;
  ConditionStatus status = ConditionStatus::missing;
  ConditionWeight weight = ConditionWeight::decides;
  std::string note;
};

enum class OutputStatus { equal, relaxed, outside, shape_differs, type_differs, missing_in_run, missing_in_reference, unreadable, not_compared };

struct OutputPair {
  std::string file;
  std::string key; // JSON path with dots, array name; "" = the whole file
  std::string dtype;
  std::string shape_run;
  std::string shape_reference;
  OutputStatus status = OutputStatus::not_compared;
  std::uint64_t elements = 0;
  std::uint64_t mismatches = 0; // outside the band that `status` names as left
  std::optional<double> max_abs;
  std::optional<double> max_rel;
  std::optional<std::uint64_t> first_index;
  std::uint64_t nan_run = 0;
  std::uint64_t nan_reference = 0;
  bool nan_pattern_differs = false;
  std::optional<double> tolerance_abs;
  std::optional<double> tolerance_rel;
  std::string tolerance_source; // default, declared
  std::string detail;
};

enum class Alikeness { alike, unlike, unknown };

struct Comparison {
  Alikeness alikeness = Alikeness::unknown;
  std::vector<ConditionPair> conditions;
  std::vector<OutputPair> outputs;
  std::uint64_t outputs_total = 0; // more than `outputs` holds when the list was cut
  std::map<std::string, std::uint64_t> counts; // by output status
  std::string not_compared_because;            // "" when outputs were compared
};

// ----------------------------------------------------------------------------------------------------------- evidence

struct RunFacts {
  std::string id;
  std::string started;
  std::string finished;
  std::string remotemac_version;
  std::string host;
};

struct ProjectFacts {
  std::string name;
  std::string purpose;
  std::string root_digest; // over the approved project files
  std::string scale;       // real: model and inputs of the real task; mini or "": a reduced run
};

struct ReferenceFacts {
  std::string root_digest;
  std::optional<JobRecord> job;
  std::optional<HostFacts> host_facts;
  std::optional<HarnessDocument> run;
};

// Why a run has no verdict: something outside the project ended it.
struct BrokeOff {
  std::string stage;
  std::string code; // error code name
  std::string reason;
  std::string hint;
};

struct Evidence {
  RunFacts run;
  ProjectFacts project;
  std::optional<Survey> survey;
  std::optional<GateSummary> gate;
  std::optional<HostFacts> host;
  std::optional<TransferFacts> transfer;
  std::optional<JobRecord> job;
  std::optional<HarnessDocument> backend;
  std::optional<WorkerDocument> battery;
  std::optional<WorkerDocument> replay;
  std::optional<HarnessDocument> strict;
  std::optional<HarnessDocument> permissive;
  std::optional<ReferenceFacts> reference;
  std::optional<Comparison> comparison;
  std::optional<BrokeOff> broke_off;
  std::map<std::string, std::string> absent; // part -> why it was not made
};

// Names of the enumerators as they stand in the JSON.
[[nodiscard]] std::string_view name_of(OutcomeStatus value);
[[nodiscard]] std::string_view name_of(OperationKind value);
[[nodiscard]] std::string_view name_of(GroupStatus value);
[[nodiscard]] std::string_view name_of(FindingStatus value);
[[nodiscard]] std::string_view name_of(ReplayStatus value);
[[nodiscard]] std::string_view name_of(Band value);
[[nodiscard]] std::string_view name_of(ConditionStatus value);
[[nodiscard]] std::string_view name_of(ConditionWeight value);
[[nodiscard]] std::string_view name_of(OutputStatus value);
[[nodiscard]] std::string_view name_of(Alikeness value);

// Readers: error corrupt when it is not an object, has another format, or a version that this program does not know.
[[nodiscard]] Result<HarnessDocument> harness_document_from_json(const nlohmann::json& value);
[[nodiscard]] Result<WorkerDocument> worker_document_from_json(const nlohmann::json& value);
[[nodiscard]] Result<Survey> survey_from_json(const nlohmann::json& value);
[[nodiscard]] HostFacts host_facts_from_json(const nlohmann::json& value);
[[nodiscard]] GateSummary gate_summary_from_json(const nlohmann::json& value);
[[nodiscard]] TransferFacts transfer_facts_from_json(const nlohmann::json& value);
[[nodiscard]] Comparison comparison_from_json(const nlohmann::json& value);
// A part that cannot be read becomes absent with the reason; only the file itself being wrong is an error.
[[nodiscard]] Result<Evidence> evidence_from_json(const nlohmann::json& value);

[[nodiscard]] nlohmann::json to_json(const HarnessDocument& value);
[[nodiscard]] nlohmann::json to_json(const WorkerDocument& value);
[[nodiscard]] nlohmann::json to_json(const Survey& value);
[[nodiscard]] nlohmann::json to_json(const HostFacts& value);
[[nodiscard]] nlohmann::json to_json(const GateSummary& value);
[[nodiscard]] nlohmann::json to_json(const TransferFacts& value);
[[nodiscard]] nlohmann::json to_json(const Comparison& value);
[[nodiscard]] nlohmann::json to_json(const Evidence& value);

} // namespace remotemac
