#include "cli/run_store.h"

#include "common/digest.h"
#include "common/json.h"
#include "common/text.h"

#include <algorithm>

namespace remotemac::cli {
namespace {
using nlohmann::json;

const char* folder_name(RunKind kind) { return kind == RunKind::run ? "runs" : "reference"; }

bool is_run_id(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

json to_json(const RunInfo& info) {
  return {{"version", 1}, {"id", info.id}, {"kind", info.kind == RunKind::run ? "run" : "reference"}, {"host", info.host}, {"job", info.job}, {"created", info.created},
          {"state", info.state}, {"snapshot", info.snapshot}, {"project_digest", info.project_digest}, {"parts", info.parts}};
}
} // namespace

Result<RunStore> RunStore::open(const std::filesystem::path& project_root) {
  RunStore store(project_root / ".remotemac");
  RM_TRY(store.m_disk.make_dirs(store.m_base));
  if (!store.m_disk.exists(store.m_base / ".gitignore"))
    RM_TRY(store.m_disk.write_atomic(store.m_base / ".gitignore", "*\n", 0644));
  return store;
}

Result<RunInfo> RunStore::create(RunKind kind, const std::string& host, const std::string& created) {
  RunInfo info;
  info.kind = kind;
  info.host = host;
  info.created = created;
  info.state = "preparing";
  // 2026-12-01T01:02:03.456Z -> 20261201-010203456-<random>: sorts by time, unique without a lock.
  std::string stamp;
  for (const char c : created.substr(0, 23)) {
    if (c == 'T')
      stamp += '-';
    else if (c >= '0' && c <= '9')
      stamp += c;
  }
  info.id = stamp + "-" + random_hex(2);
  RM_TRY(m_disk.make_dirs(folder(info)));
  RM_TRY(save(info));
  return info;
}

Result<void> RunStore::save(const RunInfo& info) { return m_disk.write_atomic(folder(info) / "run.json", dump_json(to_json(info)), 0600); }

Result<RunInfo> RunStore::load(RunKind kind, const std::string& id) {
  if (!is_run_id(id))
    return Error(ErrorCode::no_run, "'" + clean_line(id, 100) + "' is not a run's id");
  RunInfo info;
  info.kind = kind;
  info.id = id;
  if (!m_disk.exists(folder(info) / "run.json"))
    return Error(ErrorCode::no_run, "there is no run '" + id + "' in this project", "remotemac report --list shows the runs");
  RM_ASSIGN(const std::string text, m_disk.read_file(folder(info) / "run.json", std::uint64_t{256} << 20));
  RM_ASSIGN(const json value, parse_json(text, "run.json of " + id));
  info.host = json_text(value, "host");
  info.job = json_text(value, "job");
  info.created = json_text(value, "created");
  info.state = json_text(value, "state");
  info.snapshot = json_text(value, "snapshot");
  info.project_digest = json_text(value, "project_digest");
  info.parts = json_at(value, "parts").is_object() ? json_at(value, "parts") : json::object();
  return info;
}

std::vector<RunInfo> RunStore::list(RunKind kind) {
  std::vector<RunInfo> out;
  const auto entries = m_disk.list(m_base / folder_name(kind));
  if (!entries)
    return out;
  for (const DirEntry& entry : *entries) {
    if (Result<RunInfo> info = load(kind, entry.name))
      out.push_back(std::move(*info));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::filesystem::path RunStore::folder(const RunInfo& info) const { return m_base / folder_name(info.kind) / info.id; }

Result<void> remember_job(const Paths& paths, const JobPlace& place) {
  PosixFileSystem disk;
  RM_TRY(disk.make_dirs(paths.state));
  const json line{{"job", place.job}, {"host", place.host}, {"project", place.project.string()}, {"run", place.run}, {"kind", place.kind == RunKind::run ? "run" : "reference"}};
  return disk.append_synced(paths.state / "jobs.jsonl", dump_json(line, -1) + "\n");
}

std::optional<JobPlace> find_job(const Paths& paths, std::string_view job) {
  PosixFileSystem disk;
  const auto text = disk.read_file(paths.state / "jobs.jsonl", std::uint64_t{64} << 20);
  std::optional<JobPlace> out;
  if (!text)
    return out;
  for (const std::string& line : split(*text, '\n')) {
    const auto value = line.empty() ? Result<json>(json()) : parse_json(line, "jobs.jsonl");
    if (value && json_text(*value, "job") == job)
      out = JobPlace{std::string(job), json_text(*value, "host"), json_text(*value, "project"), json_text(*value, "run"), json_text(*value, "kind") == "reference" ? RunKind::reference : RunKind::run};
  }
  return out;
}

} // namespace remotemac::cli
