#include "cli/collect.h"

#include "common/file_system.h"
#include "common/text.h"
#include "sync/collector.h"

namespace remotemac::cli {
namespace {
constexpr std::uint64_t k_max_total_bytes = std::uint64_t{16} << 30;

Result<std::uint64_t> save_log(sync::RemoteClient& client, const std::string& job, const std::string& stream, const std::filesystem::path& file) {
  PosixFileSystem disk;
  std::uint64_t offset = 0;
  while (true) {
    RM_ASSIGN(const auto part, client.log(job, stream, offset, 1u << 20, std::chrono::milliseconds(0)));
    if (!part.bytes.empty())
      RM_TRY(disk.append_synced(file, std::string_view(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size())));
    offset += part.bytes.size();
    if (part.end || part.bytes.empty())
      return offset;
  }
}
} // namespace

Result<Collected> collect_job(Context& context, Session& session, const JobRecord& record, const std::vector<std::string>& names, const std::filesystem::path& run_folder) {
  PosixFileSystem disk;
  for (const char* part : {"evidence", "outputs", "logs", "record.json", "quarantine"})
    RM_TRY(disk.remove_tree(run_folder / part));
  sync::CollectOptions options;
  options.max_total_bytes = k_max_total_bytes;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    context.out.phase_progress(done, total, "B");
    return !context.interrupts.stop_asked();
  };
  RM_ASSIGN(const sync::CollectReport pulled, sync::collect(*session.client, record.job, names, run_folder, options));
  Collected out;
  out.bytes = pulled.bytes;
  out.files = pulled.files;
  for (const auto& [name, reason] : pulled.missing)
    out.missing[name] = clean_line(reason, 300);
  RM_TRY(disk.make_dirs(run_folder / "logs"));
  std::vector<std::string> streams{"environment"};
  for (const StepRecord& step : record.steps) {
    if (!is_step_name(step.name))
      return Error(ErrorCode::protocol, "the job record has a step with a name that is not allowed");
    streams.push_back(step.name + ".stdout");
    streams.push_back(step.name + ".stderr");
  }
  for (const std::string& stream : streams) {
    RM_ASSIGN_WHILE("bringing back the log " + stream, const std::uint64_t bytes, save_log(*session.client, record.job, stream, run_folder / "logs" / (stream + ".log")));
    out.bytes += bytes;
    out.files += bytes > 0 ? 1 : 0;
  }
  return out;
}

} // namespace remotemac::cli
