#include "policies/judge_cache.h"

#include "common/json.h"
#include "common/log.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <unordered_map>
#include <unordered_set>

namespace remotemac::policies {
namespace {
using nlohmann::json;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

std::string stamp_of(const FileIdentity& id) {
  return std::to_string(id.device) + ":" + std::to_string(id.inode) + ":" + std::to_string(id.size_bytes) + ":" + std::to_string(id.modified_ns) + ":" + std::to_string(id.changed_ns) + ":" + std::to_string(id.executable);
}

std::string pack(const JudgedBytes& judged) {
  std::string chunks;
  for (const ChunkRef& chunk : judged.chunks)
    chunks += chunk.digest.hex() + ":" + std::to_string(chunk.size_bytes) + ",";
  json findings = json::array();
  for (const Finding& finding : judged.inspection.findings)
    findings.push_back({finding.detector, static_cast<int>(finding.confidence), finding.count, finding.place});
  const Inspection& inspection = judged.inspection;
  return dump_json({{"d", judged.digest.hex()}, {"c", chunks}, {"k", inspection.kind}, {"r", inspection.refusal}, {"u", inspection.rule}, {"o", inspection.notebook_outputs}, {"f", findings}}, -1);
}

std::optional<std::vector<ChunkRef>> chunks_from(std::string_view text) {
  std::vector<ChunkRef> out;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    if (end == std::string_view::npos || end < 66 || text[64] != ':')
      return std::nullopt;
    const Result<Digest> digest = Digest::from_hex(text.substr(0, 64));
    if (!digest)
      return std::nullopt;
    std::uint32_t size = 0;
    for (const char c : text.substr(65, end - 65))
      size = size * 10 + static_cast<std::uint32_t>(c - '0');
    out.push_back({*digest, size});
    text.remove_prefix(end + 1);
  }
  return out;
}

std::optional<JudgedBytes> unpack(const std::string& text) {
  const Result<json> value = parse_json(text, "a cache entry");
  if (!value)
    return std::nullopt;
  JudgedBytes out;
  const Result<Digest> digest = Digest::from_hex(json_text(*value, "d"));
  auto chunks = chunks_from(json_text(*value, "c"));
  const json& findings = json_at(*value, "f");
  if (!digest || !chunks || !findings.is_array())
    return std::nullopt;
  out.digest = *digest;
  out.chunks = std::move(*chunks);
  out.inspection.kind = json_text(*value, "k");
  out.inspection.refusal = json_text(*value, "r");
  out.inspection.rule = json_text(*value, "u");
  out.inspection.notebook_outputs = static_cast<std::uint64_t>(json_int(*value, "o"));
  for (const json& row : findings) {
    if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[1].is_number_integer() || !row[2].is_number_integer() || !row[3].is_string())
      return std::nullopt;
    out.inspection.findings.push_back({row[0].get<std::string>(), static_cast<Confidence>(row[1].get<int>()), row[2].get<std::uint64_t>(), row[3].get<std::string>()});
  }
  return out;
}

class SqliteCache final : public JudgeCache {
public:
  explicit SqliteCache(const std::filesystem::path& file) {
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, nullptr);
    m_database.reset(raw);
    if (opened == SQLITE_OK) {
      sqlite3_busy_timeout(raw, 2000);
      std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
      if (run("PRAGMA journal_mode=WAL") && run("PRAGMA synchronous=NORMAL") &&
          run("CREATE TABLE IF NOT EXISTS judged (root TEXT, path TEXT, stamp TEXT, version INTEGER, body TEXT, PRIMARY KEY (root, path)) WITHOUT ROWID"))
        return;
    }
    log_event(LogLevel::warn, "gate", "the cache of judged files cannot be used", {{"file", file.string()}, {"reason", raw == nullptr ? "out of memory" : sqlite3_errmsg(raw)}});
    m_database.reset();
  }

  void load(const std::string& root) override {
    m_root = root;
    const Statement statement = prepare("SELECT path, stamp, body FROM judged WHERE root = ?1 AND version = ?2");
    if (!statement)
      return;
    sqlite3_bind_text(statement.get(), 1, root.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(statement.get(), 2, k_inspection_version);
    while (sqlite3_step(statement.get()) == SQLITE_ROW)
      m_known[column(statement, 0)] = {column(statement, 1), column(statement, 2)};
  }

  std::optional<JudgedBytes> find(const std::string& path, const FileIdentity& identity) const override {
    const auto found = m_known.find(path);
    if (found == m_known.end() || found->second.stamp != stamp_of(identity))
      return std::nullopt;
    {
      const std::lock_guard lock(m_mutex);
      m_used.insert(path);
    }
    return unpack(found->second.body);
  }

  void keep(const std::string& path, const FileIdentity& identity, const JudgedBytes& judged) override {
    const std::lock_guard lock(m_mutex);
    m_new[path] = {stamp_of(identity), pack(judged)};
  }

  void save() override {
    const std::lock_guard lock(m_mutex);
    if (!m_database || !run("BEGIN IMMEDIATE"))
      return;
    const Statement put = prepare("INSERT OR REPLACE INTO judged VALUES (?1, ?2, ?3, ?4, ?5)");
    for (const auto& [path, row] : m_new) {
      if (!put)
        break;
      sqlite3_bind_text(put.get(), 1, m_root.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(put.get(), 2, path.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(put.get(), 3, row.stamp.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_int(put.get(), 4, k_inspection_version);
      sqlite3_bind_text(put.get(), 5, row.body.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_step(put.get());
      sqlite3_reset(put.get());
    }
    const Statement remove = prepare("DELETE FROM judged WHERE root = ?1 AND path = ?2");
    for (const auto& [path, row] : m_known) {
      if (!remove || m_used.contains(path) || m_new.contains(path))
        continue;
      sqlite3_bind_text(remove.get(), 1, m_root.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(remove.get(), 2, path.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_step(remove.get());
      sqlite3_reset(remove.get());
    }
    run("COMMIT");
    m_new.clear();
  }

private:
  struct Row {
    std::string stamp;
    std::string body;
  };
  bool run(const char* sql) { return sqlite3_exec(m_database.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK; }
  Statement prepare(const char* sql) {
    sqlite3_stmt* raw = nullptr;
    if (m_database)
      sqlite3_prepare_v2(m_database.get(), sql, -1, &raw, nullptr);
    return Statement(raw);
  }
  static std::string column(const Statement& statement, int index) {
    const auto* text = sqlite3_column_text(statement.get(), index);
    return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), index)));
  }

  std::unique_ptr<sqlite3, Close> m_database;
  std::string m_root;
  std::unordered_map<std::string, Row> m_known;
  mutable std::mutex m_mutex; // for the following
  mutable std::unordered_set<std::string> m_used;
  std::unordered_map<std::string, Row> m_new;
};
} // namespace

std::unique_ptr<JudgeCache> open_judge_cache(const std::filesystem::path& file) { return std::make_unique<SqliteCache>(file); }

} // namespace remotemac::policies
