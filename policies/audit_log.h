#pragma once
// The audit log of a user: JSON lines, canonical (RFC 8785), each a leaf of a Merkle tree (RFC 6962) and each holding the root over all
// lines before it, so that no line can be changed, removed or put elsewhere unseen; head.json holds size and root, so that a cut-off end is seen.
// Lists of files lie beside it, named by their own digest: files/<sha256>.jsonl. Paths stand there as HMAC under a salt of that
// record (salts/<sha256>); deleting the salt breaks the link while the log stays provable. Never holds a matched value.
// Several processes may append (lock file). Every call that appends returns only after the record is flushed to the disk.
#include "common/file_system.h"
#include "common/result.h"
#include "policies/gate.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace remotemac::policies {

struct AuditProblem {
  std::uint64_t line = 0; // 0 = about the log as a whole
  std::string what;
};

struct AuditVerification {
  std::uint64_t records = 0;
  std::string root; // hex
  std::vector<AuditProblem> problems;
  std::vector<std::string> notes; // not wrong, but worth knowing (a line that a crash cut off and the next record reports)
  [[nodiscard]] bool sound() const { return problems.empty(); }
};

class AuditLog {
public:
  // `folder` is made when missing. The disk must outlive the log.
  AuditLog(FileSystem& disk, std::filesystem::path folder) : m_disk(disk), m_folder(std::move(folder)) {}

  // Adds seq, time, type and the root of what was before to `fields`. Error corrupt when the log's chain is broken (then `audit verify`
  // says where): nothing is appended to a log that cannot be trusted, and what the record would allow does not happen.
  [[nodiscard]] Result<void> append(const std::string& type, const std::string& time, const nlohmann::json& fields);
  // Stores the list of approved files of a judgement; gives its digest, which belongs into the record.
  [[nodiscard]] Result<std::string> store_file_list(const Judgement& judgement);

  [[nodiscard]] Result<AuditVerification> verify() const;
  // Every readable record in order; a log that does not exist has none.
  [[nodiscard]] Result<std::vector<nlohmann::json>> records() const;

private:
  FileSystem& m_disk;
  std::filesystem::path m_folder;
};

} // namespace remotemac::policies
