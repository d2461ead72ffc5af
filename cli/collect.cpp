#include "cli/collect.h"

#include "cli/job_plan.h"
#include "common/file_system.h"
#include "common/text.h"
#include "sync/collector.h"

namespace remotemac::cli {
namespace {
constexpr std::uint64_t k_max_total_bytes = std::uint64_t{16} << 30;
constexpr std::uint64_t k_log_notes_bytes = 65536; // what the host adds to a log beyond its limit: why it was cut, how it ended

Result<std::uint64_t> save_log(sync::RemoteClient& client, const std::string& job, const std::string& stream, const std::filesystem::path& file, std::uint64_t max_bytes) {
  PosixFileSystem disk;
  std::uint64_t offset = 0;
  while (true) {
    RM_ASSIGN(const auto part, client.log(job, stream, offset, 1u << 20, std::chrono::milliseconds(0)));
    if (!part.bytes.empty())
      RM_TRY(disk.append_synced(file, std::string_view(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size())));
    offset += part.bytes.size();
    if (part.end || part.bytes.empty())
      return offset;
    if (offset > max_bytes)
      return Error(ErrorCode::protocol, "the host sends more than the " + human_bytes(max_bytes) + " that a log of this job may have", "do not trust this host; if it is yours, bring both sides to the same release");
  }
}
} // namespace

Result<Collected> collect_job(Context& context, Session& session, const std::string& job, const JobSpec& spec, const std::filesystem::path& run_folder) {
  PosixFileSystem disk;
  for (const char* part : {"evidence", "outputs", "logs", "record.json"})
    RM_TRY(disk.remove_tree(run_folder / part));
  RM_ASSIGN(const std::vector<DirEntry> there, disk.list(run_folder));
  for (const DirEntry& entry : there) { // of a collection that was broken off
    if (entry.name.starts_with(".quarantine-"))
      RM_TRY(disk.remove_tree(run_folder / entry.name));
  }
  sync::CollectOptions options;
  options.max_total_bytes = k_max_total_bytes;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    context.out.phase_progress(done, total, "B");
    return !context.interrupts.stop_asked();
  };
  RM_ASSIGN(const sync::CollectReport pulled, sync::collect(*session.client, job, names_to_collect(spec), run_folder, options));
  Collected out;
  out.bytes = pulled.bytes;
  out.files = pulled.files;
  for (const auto& [name, reason] : pulled.missing)
    out.missing[name] = clean_line(reason, 300);
  RM_TRY(disk.make_dirs(run_folder / "logs"));
  for (const std::string& stream : log_streams(spec)) {
    RM_ASSIGN_WHILE("bringing back the log " + stream, const std::uint64_t bytes,
                    save_log(*session.client, job, stream, run_folder / "logs" / (stream + ".log"), spec.limits.log_bytes + k_log_notes_bytes));
    out.bytes += bytes;
    out.files += bytes > 0 ? 1 : 0;
  }
  return out;
}

} // namespace remotemac::cli
