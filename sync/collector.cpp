#include "sync/collector.h"

#include "common/text.h"
#include "sync/quarantine.h"

#include <algorithm>
#include <poll.h>
#include <unordered_set>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_part_bytes = std::size_t{1} << 20;
constexpr std::size_t k_names_max = 10'000; // of one job.stat; the daemon's limit too
constexpr std::chrono::milliseconds k_log_wait{20'000};
constexpr int k_idle_pause_ms = 20;

Result<std::vector<RelPath>> checked_names(const std::vector<std::string>& names) {
  if (names.size() > k_names_max)
    return Error(ErrorCode::usage, "more than " + std::to_string(k_names_max) + " files were asked for at once");
  std::vector<RelPath> out;
  std::unordered_set<std::string> keys;
  for (const std::string& name : names) {
    Result<RelPath> path = RelPath::create(name);
    if (!path)
      return Error(ErrorCode::usage, "'" + clean_line(name, 300) + "' cannot be fetched: " + path.error().message());
    if (!keys.insert(path->collision_key()).second)
      return Error(ErrorCode::usage, "'" + name + "' was asked for twice (or differs from another name only in case)");
    out.push_back(std::move(*path));
  }
  for (const RelPath& path : out) {
    const std::string key = path.collision_key();
    for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
      if (keys.contains(key.substr(0, slash)))
        return Error(ErrorCode::usage, "'" + key.substr(0, slash) + "' was asked for as a file and as a folder");
    }
  }
  return out;
}

Error lie(const RelPath& name, const std::string& what) {
  return Error(ErrorCode::protocol, "the host " + what + " for '" + name.text() + "'; nothing of this job was kept",
               "if the job was still running, wait for its end and fetch again; else do not trust this host");
}

class Collection {
public:
  Collection(RemoteClient& client, const std::string& job, const CollectOptions& options) : m_client(client), m_job(job), m_options(options) {}

  Result<CollectReport> run(const std::vector<RelPath>& names, const std::filesystem::path& into) {
    RM_ASSIGN(const std::vector<RemoteFile> described, m_client.stat(m_job, names));
    std::vector<RemoteFile> present;
    for (const RemoteFile& file : described) {
      if (file.missing.empty())
        present.push_back(file);
      else
        m_report.missing[file.name.text()] = file.missing;
    }
    RM_TRY(check_sizes(present));
    RM_ASSIGN(Quarantine quarantine, Quarantine::create(into));
    RM_ASSIGN(const std::uint64_t room, quarantine.free_bytes());
    if (room < m_total || room - m_total < m_options.keep_free_bytes)
      return Error(ErrorCode::disk_full, "the files need " + human_bytes(m_total) + ", and " + into.string() + " has " + human_bytes(room) + " free (" +
                                             human_bytes(m_options.keep_free_bytes) + " are kept free)",
                   "free some space here (df -h); the host keeps the files until they expire");
    std::vector<RelPath> paths;
    for (const RemoteFile& file : present) {
      RM_TRY_WHILE("fetching " + file.name.text(), fetch(file, quarantine));
      paths.push_back(file.name);
    }
    RM_TRY(quarantine.publish(paths));
    m_report.files = present.size();
    m_report.bytes = m_total;
    return std::move(m_report);
  }

private:
  Result<void> check_sizes(const std::vector<RemoteFile>& files) {
    for (const RemoteFile& file : files) {
      if (file.size_bytes > m_options.max_file_bytes || file.size_bytes > m_options.max_total_bytes - m_total)
        return Error(ErrorCode::refused, "'" + file.name.text() + "' has " + human_bytes(file.size_bytes) + ", which is over the limit for what is brought back (" +
                                             human_bytes(m_options.max_file_bytes) + " for a file, " + human_bytes(m_options.max_total_bytes) + " in all)",
                     "name fewer or smaller outputs in remotemac.toml");
      m_total += file.size_bytes;
    }
    return ok();
  }

  Result<void> fetch(const RemoteFile& file, Quarantine& quarantine) {
    RM_TRY(quarantine.begin_file());
    Sha256 hash;
    bool ended = file.size_bytes == 0;
    for (std::uint64_t at = 0; at < file.size_bytes;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(k_part_bytes, file.size_bytes - at));
      RM_ASSIGN(const BytesPart part, m_client.fetch(m_job, file.name, at, size));
      if (part.bytes.size() < size) // a host that drips byte by byte would hold us for ever
        return lie(file.name, "sent fewer bytes than it had announced");
      RM_TRY(quarantine.write(part.bytes));
      hash.update(part.bytes);
      at += part.bytes.size();
      ended = part.end;
      if (ended && at < file.size_bytes)
        return lie(file.name, "sent fewer bytes than it had announced");
      m_done += part.bytes.size();
      if (m_options.progress && !m_options.progress(m_done, m_total))
        return Error(ErrorCode::interrupted, "stopped while files were being brought back; nothing was kept");
    }
    if (!ended)
      return lie(file.name, "has more bytes than it had announced");
    const Digest digest = hash.finish();
    if (digest != file.sha256)
      return lie(file.name, "sent other bytes than it had announced");
    m_report.digests[file.name.text()] = digest;
    return ok();
  }

  RemoteClient& m_client;
  const std::string& m_job;
  const CollectOptions& m_options;
  CollectReport m_report;
  std::uint64_t m_total = 0;
  std::uint64_t m_done = 0;
};
} // namespace

Result<CollectReport> collect(RemoteClient& client, const std::string& job, const std::vector<std::string>& names, const std::filesystem::path& into,
                              const CollectOptions& options) {
  RM_ASSIGN(const std::vector<RelPath> paths, checked_names(names));
  return Collection(client, job, options).run(paths, into);
}

Result<void> follow_log(RemoteClient& client, const std::string& job, const std::string& stream, std::uint64_t& offset, const LogSink& sink) {
  while (true) {
    RM_ASSIGN(const BytesPart part, client.log(job, stream, offset, k_part_bytes, k_log_wait));
    offset += part.bytes.size();
    if (!sink(part.bytes))
      return Error(ErrorCode::interrupted, "stopped following the log");
    if (part.end)
      return ok();
    if (part.bytes.empty()) // the host is to wait for us; one that does not must not make us spin
      ::poll(nullptr, 0, k_idle_pause_ms);
  }
}

} // namespace remotemac::sync
