#pragma once
// Remembers what inspectors found in a file as long as the file is provably the same: device, inode, size, modification and change
// time in nanoseconds. A file that was touched within two seconds of being judged is not remembered (its times cannot tell two writes
// apart). Decisions are never remembered, only digests and findings. A broken or missing cache is an empty one. Thread-safe.
#include "common/manifest.h"
#include "policies/file_reader.h"
#include "policies/inspect.h"

#include <filesystem>
#include <memory>
#include <optional>

namespace remotemac::policies {

struct JudgedBytes {
  Digest digest; // of the whole file
  std::vector<ChunkRef> chunks;
  Inspection inspection;
};

class JudgeCache {
public:
  virtual ~JudgeCache() = default;
  // Reads what is known about a project into memory.
  virtual void load(const std::string& root) = 0;
  [[nodiscard]] virtual std::optional<JudgedBytes> find(const std::string& path, const FileIdentity& identity) const = 0;
  virtual void keep(const std::string& path, const FileIdentity& identity, const JudgedBytes& judged) = 0;
  // Writes what was kept; entries of the project that were neither found nor kept are forgotten.
  virtual void save() = 0;
};

// Never fails: where the file cannot be used, the cache lives in memory and a log line says so.
[[nodiscard]] std::unique_ptr<JudgeCache> open_judge_cache(const std::filesystem::path& file);

} // namespace remotemac::policies
