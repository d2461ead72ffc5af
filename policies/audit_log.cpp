#include "policies/audit_log.h"

#include "common/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "policies/merkle.h"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/file.h>

namespace remotemac::policies {
namespace {
using nlohmann::json;
constexpr std::uint64_t k_largest_log = std::uint64_t{4} << 30;
constexpr const char* k_torn = "torn-line";
constexpr const char* k_where_to_look = "remotemac audit verify names the line; restore the log from a copy, or keep it aside as evidence and begin a new one";

// flock on audit.lock, held for as long as the object lives.
Result<UniqueFd> lock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "audit.lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd)
    return io_error("cannot open " + path.string(), errno);
  // Appending takes milliseconds; whoever holds the lock is doing just that.
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR)
      return io_error("cannot lock " + path.string(), errno);
  }
  return fd;
}

std::string hmac_hex(const std::string& key, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(), out, &size);
  return to_hex(std::span<const std::uint8_t>(out, size));
}

// The state of a log as far as it can be followed.
struct Scan {
  MerkleTree tree;
  std::vector<AuditProblem> problems;
  std::vector<std::string> notes;
  std::vector<json> records;
  bool unterminated = false; // the last line has no line end
  std::string last_line;
  std::vector<Digest> roots; // after each line
};

class Scanner {
public:
  Scan run(std::string_view text) {
    std::uint64_t number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      ++number;
      if (end == std::string_view::npos)
        m_scan.unterminated = true;
      take(number, line, end == std::string_view::npos);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      m_scan.last_line = std::string(line);
    }
    if (m_torn)
      m_scan.notes.push_back("line " + std::to_string(m_torn_line) + " was cut off by a crash; the next record will report it");
    return std::move(m_scan);
  }

private:
  void problem(std::uint64_t line, std::string what) { m_scan.problems.push_back({line, std::move(what)}); }

  void take(std::uint64_t number, std::string_view line, bool last_open) {
    const Result<json> value = parse_json(line, "line " + std::to_string(number));
    const bool whole = value && value->is_object();
    if (m_torn && !reports_torn(whole ? *value : json()))
      problem(m_torn_line, "is no record, and the next line does not report it as cut off by a crash");
    const bool was_torn = std::exchange(m_torn, false);
    if (!whole) {
      m_torn = true;
      m_torn_line = number;
      m_torn_digest = sha256(line).hex();
    } else {
      check(number, line, *value, was_torn);
      if (last_open)
        problem(number, "has no line end");
    }
    m_scan.tree.add(leaf_hash(line));
    m_scan.roots.push_back(m_scan.tree.root());
    if (whole)
      m_scan.records.push_back(*value);
  }

  [[nodiscard]] bool reports_torn(const json& record) const {
    return record.is_object() && json_text(record, "type") == k_torn && json_text(record, "line_sha256") == m_torn_digest;
  }

  void check(std::uint64_t number, std::string_view line, const json& record, bool after_torn) {
    const Result<std::string> canonical = canonical_json(record);
    if (!canonical || *canonical != line)
      problem(number, "is not written in canonical form: it was changed by another program");
    if (json_int(record, "seq", -1) != static_cast<std::int64_t>(number - 1))
      problem(number, "has seq " + std::to_string(json_int(record, "seq", -1)) + " where " + std::to_string(number - 1) + " belongs: lines were removed or reordered");
    if (json_text(record, "before") != m_scan.tree.root().hex())
      problem(number, "does not fit to the lines before it: one of them was changed, removed or reordered");
    if (json_text(record, "type") == k_torn && !after_torn)
      problem(number, "reports a cut-off line that is not there");
    else if (after_torn && reports_torn(record))
      m_scan.notes.push_back("line " + std::to_string(number - 1) + " was cut off by a crash, as line " + std::to_string(number) + " reports");
  }

  Scan m_scan;
  bool m_torn = false;
  std::uint64_t m_torn_line = 0;
  std::string m_torn_digest;
};

Result<Scan> scan(FileSystem& disk, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "audit.jsonl";
  if (!disk.exists(path))
    return Scan{};
  RM_ASSIGN_WHILE("reading the audit log", const std::string text, disk.read_file(path, k_largest_log));
  return Scanner().run(text);
}

Result<std::string> line_of(const Scan& scan, const std::string& type, const std::string& time, json fields) {
  fields["seq"] = scan.tree.size();
  fields["type"] = type;
  fields["time"] = time;
  fields["before"] = scan.tree.root().hex();
  return canonical_json(fields);
}

Result<void> write_head(FileSystem& disk, const std::filesystem::path& folder, const Scan& state) {
  RM_ASSIGN(const std::string head, canonical_json({{"format", "remotemac-audit-head"}, {"size", state.tree.size()}, {"root", state.tree.root().hex()}}));
  RM_TRY_WHILE("writing the audit log", disk.write_atomic(folder / "head.json", head + "\n", 0600));
  return ok();
}

Result<void> add_line(FileSystem& disk, const std::filesystem::path& folder, Scan& state, const std::string& line) {
  RM_TRY_WHILE("writing the audit log", disk.append_synced(folder / "audit.jsonl", line + "\n"));
  state.tree.add(leaf_hash(line));
  return write_head(disk, folder, state);
}

// The head may lag behind by what a crash left between the two writes, never be ahead.
void check_head(FileSystem& disk, const std::filesystem::path& folder, Scan& state) {
  const std::filesystem::path path = folder / "head.json";
  if (!disk.exists(path)) {
    if (state.tree.size() > 0) // it is written before the first line
      state.problems.push_back({0, "head.json is missing, so a cut-off end could not be seen"});
    return;
  }
  const Result<std::string> text = disk.read_file(path, 1u << 16);
  const Result<json> head = text ? parse_json(*text, "head.json") : Result<json>(text.error());
  if (!head || json_int(*head, "size", -1) < 0) {
    state.problems.push_back({0, "head.json cannot be read"});
    return;
  }
  const auto size = static_cast<std::uint64_t>(json_int(*head, "size"));
  if (size > state.tree.size()) {
    state.problems.push_back({0, "the log ends after " + std::to_string(state.tree.size()) + " lines, but had " + std::to_string(size) + ": the end was removed"});
    return;
  }
  const Digest expected = size == 0 ? sha256(std::string_view()) : state.roots[size - 1];
  if (json_text(*head, "root") != expected.hex())
    state.problems.push_back({0, "head.json has another root than the first " + std::to_string(size) + " lines"});
  // Told apart from a forged line by nobody: whoever looks should know. A cut-off end has a note of its own.
  if (const std::uint64_t ahead = state.tree.size() - size; ahead > (state.unterminated ? 1u : 0u))
    state.notes.push_back("head.json knows " + std::to_string(size) + " of " + std::to_string(state.tree.size()) + " lines: a crash before it was written, or lines that somebody added");
  if (size + 2 < state.tree.size())
    state.problems.push_back({0, "head.json knows " + std::to_string(size) + " lines, but the log has " + std::to_string(state.tree.size()) + ": lines were added past it"});
}

void check_file_lists(FileSystem& disk, const std::filesystem::path& folder, Scan& state) {
  for (const json& record : state.records) {
    const std::string digest = json_text(record, "file_list");
    if (digest.empty())
      continue;
    const std::uint64_t line = static_cast<std::uint64_t>(json_int(record, "seq")) + 1;
    const std::filesystem::path path = folder / "files" / (digest + ".jsonl");
    if (!Digest::from_hex(digest) || !disk.exists(path)) {
      state.problems.push_back({line, "its list of files is missing"});
      continue;
    }
    const Result<std::string> text = disk.read_file(path, k_largest_log);
    if (!text || sha256(*text).hex() != digest)
      state.problems.push_back({line, "its list of files was changed"});
  }
}
} // namespace

Result<void> AuditLog::append(const std::string& type, const std::string& time, const json& fields) {
  RM_TRY_WHILE("opening the audit log", m_disk.make_dirs(m_folder));
  RM_ASSIGN_WHILE("opening the audit log", const UniqueFd held, lock(m_folder));
  RM_ASSIGN(Scan state, scan(m_disk, m_folder));
  check_head(m_disk, m_folder, state);
  if (state.unterminated) {
    // Whole or not, it was not finished: it stays, closed by a line end, and the next record says so.
    const bool whole = std::any_of(state.problems.begin(), state.problems.end(), [&](const AuditProblem& problem) { return problem.line == state.tree.size() && problem.what == "has no line end"; });
    RM_TRY_WHILE("mending the audit log", m_disk.append_synced(m_folder / "audit.jsonl", "\n"));
    if (whole)
      std::erase_if(state.problems, [](const AuditProblem& problem) { return problem.what == "has no line end"; });
  }
  if (!state.problems.empty())
    return Error(ErrorCode::corrupt, "the audit log " + (m_folder / "audit.jsonl").string() + " cannot be trusted: " + (state.problems.front().line > 0 ? "line " + std::to_string(state.problems.front().line) + " " : "") + state.problems.front().what,
                 k_where_to_look);
  if (const Result<json> last = parse_json(state.last_line, "the last line"); state.tree.size() > 0 && (!last || !last->is_object())) {
    RM_ASSIGN(const std::string torn, line_of(state, k_torn, time, {{"line_sha256", sha256(state.last_line).hex()}}));
    RM_TRY(add_line(m_disk, m_folder, state, torn));
  }
  if (state.tree.size() == 0) // so that a log without a head is never what a crash left
    RM_TRY(write_head(m_disk, m_folder, state));
  RM_ASSIGN(const std::string line, line_of(state, type, time, fields));
  return add_line(m_disk, m_folder, state, line);
}

Result<std::string> AuditLog::store_file_list(const Judgement& judgement) {
  const std::string salt = random_hex(32);
  std::map<std::string_view, const FileDecision*> decisions;
  for (const FileDecision& decision : judgement.decisions)
    decisions[decision.path] = &decision;
  std::string text;
  for (const ManifestFile& file : judgement.approved.manifest().files) {
    const auto found = decisions.find(file.path.text());
    json chunks = json::array();
    for (const ChunkRef& chunk : file.chunks)
      chunks.push_back(chunk.digest.hex());
    json row{{"path_hmac", hmac_hex(salt, file.path.text())}, {"size_bytes", file.size_bytes}, {"chunks", chunks}};
    if (found != decisions.end()) {
      row["class"] = found->second->data_class;
      row["data_set"] = found->second->data_set;
      row["rule"] = found->second->rule;
    }
    RM_ASSIGN(const std::string line, canonical_json(row));
    text += line + "\n";
  }
  const std::string digest = sha256(text).hex();
  for (const char* name : {"files", "salts"})
    RM_TRY_WHILE("opening the audit log", m_disk.make_dirs(m_folder / name));
  RM_TRY_WHILE("writing the audit log", m_disk.write_atomic(m_folder / "salts" / digest, salt + "\n", 0600));
  RM_TRY_WHILE("writing the audit log", m_disk.write_atomic(m_folder / "files" / (digest + ".jsonl"), text, 0600));
  return digest;
}

Result<AuditVerification> AuditLog::verify() const {
  RM_ASSIGN(Scan state, scan(m_disk, m_folder));
  check_head(m_disk, m_folder, state);
  check_file_lists(m_disk, m_folder, state);
  AuditVerification out;
  out.records = state.records.size();
  out.root = state.tree.root().hex();
  out.problems = std::move(state.problems);
  out.notes = std::move(state.notes);
  return out;
}

Result<std::vector<json>> AuditLog::records() const {
  RM_ASSIGN(Scan state, scan(m_disk, m_folder));
  return std::move(state.records);
}

} // namespace remotemac::policies
