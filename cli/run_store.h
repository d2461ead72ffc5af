#pragma once
// What a project keeps about its runs: <project>/.remotemac/{runs,reference}/<id>/ with run.json, evidence/, outputs/, logs/ and the reports.
// The folder ignores itself in git. Also the user's index of jobs (which host, which project), so that `logs` and `cancel` need only the job.
#include "cli/config.h"
#include "common/file_system.h"
#include "common/result.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::cli {

enum class RunKind { run, reference };

struct RunInfo {
  std::string id;
  RunKind kind = RunKind::run;
  std::string host;
  std::string job;      // "" before it was submitted
  std::string created;  // RFC 3339
  std::string state;    // preparing, submitted, collected, judged, cancelled
  std::string snapshot; // manifest digest, hex
  std::string project_digest; // digest of the approved project files alone (without generated ones): what two runs must share to be comparable
  nlohmann::json parts = nlohmann::json::object(); // evidence parts known so far: survey, gate, host, transfer
};

class RunStore {
public:
  // Makes .remotemac with its .gitignore.
  [[nodiscard]] static Result<RunStore> open(const std::filesystem::path& project_root);
  [[nodiscard]] Result<RunInfo> create(RunKind kind, const std::string& host, const std::string& created);
  [[nodiscard]] Result<void> save(const RunInfo& info);
  [[nodiscard]] Result<RunInfo> load(RunKind kind, const std::string& id);
  // Newest first; folders that cannot be read are skipped.
  [[nodiscard]] std::vector<RunInfo> list(RunKind kind);
  [[nodiscard]] std::filesystem::path folder(const RunInfo& info) const;

private:
  explicit RunStore(std::filesystem::path base) : m_base(std::move(base)) {}
  std::filesystem::path m_base;
  PosixFileSystem m_disk;
};

struct JobPlace {
  std::string job;
  std::string host;
  std::filesystem::path project;
  std::string run;
  RunKind kind = RunKind::run;
};

[[nodiscard]] Result<void> remember_job(const Paths& paths, const JobPlace& place);
// Newest entry; nullopt when this user never submitted it.
[[nodiscard]] std::optional<JobPlace> find_job(const Paths& paths, std::string_view job);

} // namespace remotemac::cli
