#include "policies/gate.h"

#include "common/text.h"
#include "policies/approved_content.h"
#include "policies/detectors.h"
#include "policies/walk.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace remotemac::policies {
namespace {
constexpr std::size_t k_chunk_bytes = std::size_t{2} << 20;
constexpr std::uint64_t k_largest_file = std::uint64_t{2} << 30;
constexpr std::int64_t k_racy_ns = 2'000'000'000;

// A proposed file on its way to a decision.
struct Candidate {
  std::string path;
  FileIdentity identity;
  const DataSet* set = nullptr;
  const GeneratedFile* generated = nullptr;
  std::optional<Ruling> objection;
  JudgedBytes judged;
};

JudgedBytes judge_bytes(const std::string& path, std::span<const std::uint8_t> bytes, const DataSet& set) {
  JudgedBytes out;
  Sha256 whole;
  whole.update(bytes);
  out.digest = whole.finish();
  for (std::size_t at = 0; at < bytes.size(); at += k_chunk_bytes) {
    const auto chunk = bytes.subspan(at, std::min(k_chunk_bytes, bytes.size() - at));
    out.chunks.push_back({bytes.size() <= k_chunk_bytes ? out.digest : sha256(chunk), static_cast<std::uint32_t>(chunk.size())});
  }
  static const std::vector<std::string> none;
  out.inspection = inspect(path, bytes, set.data_class == DataClass::anonymized ? set.quasi_identifiers : none);
  return out;
}

bool is_clutter(std::string_view name) { return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini" || name.starts_with("._"); }

DataSet generated_set() {
  DataSet out;
  out.name = "remotemac";
  out.data_class = DataClass::code;
  return out;
}
} // namespace

class Gate {
public:
  explicit Gate(const JudgeRequest& request) : m_request(request), m_policy(*request.policy), m_generated_set(generated_set()) {}

  Result<Judgement> run() {
    RM_ASSIGN(m_root, open_root(m_request.root));
    const std::optional<Ruling> host = host_objection(m_request.host, m_request.now);
    for (const DataSet& set : m_policy.data) {
      auto objection = declaration_objection(set, m_policy.file, m_request.host, m_request.now);
      m_set_objections.push_back(host ? host : std::move(objection));
    }
    if (m_request.cache != nullptr)
      m_request.cache->load(std::filesystem::absolute(m_request.root).lexically_normal().string());
    RM_TRY(walk(m_root.get(), [this](const WalkEntry& entry) { return visit(entry); }));
    add_generated(host);
    object_to_collisions();
    RM_TRY(judge_candidates());
    if (m_request.cache != nullptr)
      m_request.cache->save();
    return conclude();
  }

private:
  // ------------------------------------------------------------------------------------------------ walk
  bool visit(const WalkEntry& entry) {
    const std::size_t slash = entry.path.rfind('/');
    const std::string_view name = std::string_view(entry.path).substr(slash == std::string::npos ? 0 : slash + 1);
    const std::string lower = to_lower_ascii(name); // on a file system without case, .GIT is the same folder
    if (lower == ".git" || lower == ".hg" || lower == ".svn" || lower == ".bzr")
      return stays(entry, built_in("builtin.git", "version control never leaves"));
    if (lower == ".remotemac") // also of a project within the project
      return stays(entry, built_in("builtin.own-state", "remotemac's own folder"));
    if (entry.kind == WalkKind::folder)
      return visit_folder(entry);
    const std::vector<const DataSet*> sets = proposing(entry);
    if (sets.empty())
      return stays(entry, built_in("builtin.default-deny", ""));
    if (const Exclude* exclude = excluding(entry.path)) {
      decide(entry, FileVerdict::excluded, {"exclude", "project", m_policy.file + ":" + std::to_string(exclude->line), clean_line(exclude->reason, 300)});
      return false;
    }
    if (is_clutter(name)) {
      decide(entry, FileVerdict::excluded, built_in("builtin.clutter", "left behind by a desktop"));
      return false;
    }
    propose(entry, sets);
    return false;
  }

  bool visit_folder(const WalkEntry& entry) {
    const bool interesting = std::any_of(m_policy.data.begin(), m_policy.data.end(), [&](const DataSet& set) { return std::any_of(set.include.begin(), set.include.end(), [&](const Glob& glob) { return glob.may_match_below(entry.path); }); });
    if (!interesting)
      return stays(entry, built_in("builtin.default-deny", ""));
    if (entry.other_file_system) {
      decide(entry, FileVerdict::refused, built_in("builtin.file-system", "lies on another file system, which is not entered"));
      return false;
    }
    return true;
  }

  bool stays(const WalkEntry& entry, const Ruling& ruling) {
    decide(entry, FileVerdict::not_proposed, ruling);
    return false;
  }

  // The data sets that propose an entry. What is no file stands for all that could be behind it.
  std::vector<const DataSet*> proposing(const WalkEntry& entry) const {
    std::vector<const DataSet*> out;
    for (const DataSet& set : m_policy.data) {
      const bool fits = std::any_of(set.include.begin(), set.include.end(), [&](const Glob& glob) { return glob.matches(entry.path) || (entry.kind != WalkKind::file && glob.may_match_below(entry.path)); });
      if (fits)
        out.push_back(&set);
    }
    return out;
  }

  const Exclude* excluding(const std::string& path) const {
    for (const Exclude& exclude : m_policy.excludes) {
      if (std::any_of(exclude.paths.begin(), exclude.paths.end(), [&](const Glob& glob) { return glob.covers(path); }))
        return &exclude;
    }
    return nullptr;
  }

  void propose(const WalkEntry& entry, const std::vector<const DataSet*>& sets) {
    Candidate candidate;
    candidate.path = entry.path;
    candidate.identity = entry.identity;
    candidate.set = sets.front();
    candidate.objection = first_objection(entry, sets);
    m_candidates.push_back(std::move(candidate));
  }

  std::optional<Ruling> first_objection(const WalkEntry& entry, const std::vector<const DataSet*>& sets) const {
    if (entry.kind == WalkKind::symlink)
      return built_in("builtin.symlink", "is a symlink: what it points to was not declared under this name");
    if (entry.kind == WalkKind::special)
      return built_in("builtin.special-file", "is no regular file (device, socket or pipe)");
    if (entry.kind == WalkKind::unreadable)
      return built_in("builtin.unreadable", entry.note);
    if (const Result<RelPath> path = RelPath::create(entry.path); !path)
      return built_in("builtin.bad-name", "its name cannot be sent: " + path.error().message());
    if (entry.other_file_system)
      return built_in("builtin.file-system", "lies on another file system");
    if (entry.identity.links > 1)
      return built_in("builtin.hard-link", "has " + std::to_string(entry.identity.links) + " names (hard links); one of them may lie outside the project");
    if (sets.size() > 1)
      return built_in("builtin.ambiguous", "both data set '" + sets[0]->name + "' and '" + sets[1]->name + "' claim it");
    if (entry.identity.size_bytes > k_largest_file)
      return built_in("builtin.too-large", "is larger than 2 GiB, which is not read to the end");
    return m_set_objections[static_cast<std::size_t>(sets.front() - m_policy.data.data())];
  }

  void add_generated(const std::optional<Ruling>& host) {
    for (const GeneratedFile& file : m_request.generated) {
      Candidate candidate;
      candidate.path = file.path;
      candidate.identity.size_bytes = file.bytes.size();
      candidate.set = &m_generated_set;
      candidate.generated = &file;
      candidate.objection = host;
      if (!RelPath::create(file.path))
        candidate.objection = built_in("builtin.bad-name", "its name cannot be sent");
      m_candidates.push_back(std::move(candidate));
    }
  }

  // Two spellings of one name, in any part of the path, that a Mac's file system would make one.
  void object_to_collisions() {
    std::map<std::string, std::string> spelling; // folded prefix -> first spelling
    std::set<std::string> clashing;              // folded prefixes with more than one
    const auto each_prefix = [](const std::string& path, const auto& action) {
      for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
        action(path.substr(0, end));
      action(path);
    };
    std::set<std::string> whole; // a path twice: a generated file with a project file's name
    for (const Candidate& candidate : m_candidates) {
      const Result<RelPath> path = RelPath::create(candidate.path);
      if (!path)
        continue;
      if (!whole.insert(path->collision_key()).second)
        clashing.insert(path->collision_key());
      each_prefix(candidate.path, [&](const std::string& prefix) {
        const std::string key = key_of(prefix);
        if (const auto [at, fresh] = spelling.emplace(key, prefix); !fresh && at->second != prefix)
          clashing.insert(key);
      });
    }
    if (clashing.empty())
      return;
    for (Candidate& candidate : m_candidates) {
      each_prefix(candidate.path, [&](const std::string& prefix) {
        if (!candidate.objection && clashing.contains(key_of(prefix)))
          candidate.objection = built_in("builtin.collision", "'" + clean_line(prefix, 200) + "' has a twin that differs only in case or Unicode form; a Mac would make them one");
      });
    }
  }

  static std::string key_of(const std::string& prefix) {
    const Result<RelPath> path = RelPath::create(prefix);
    return path ? path->collision_key() : prefix;
  }

  // ------------------------------------------------------------------------------------------------ reading
  Result<void> judge_candidates() {
    const std::uint64_t total = m_candidates.size();
    const auto work = [&] {
      for (std::size_t i = m_next++; i < m_candidates.size() && !m_stop; i = m_next++) {
        judge_candidate(m_candidates[i]);
        ++m_done;
      }
    };
    std::vector<std::thread> helpers;
    const std::size_t threads = total < 64 ? 0 : std::min(3u, std::max(1u, std::thread::hardware_concurrency()) - 1);
    for (std::size_t i = 0; i < threads; ++i)
      helpers.emplace_back(work);
    for (std::size_t i = m_next++; i < m_candidates.size() && !m_stop; i = m_next++) {
      judge_candidate(m_candidates[i]);
      if (const std::uint64_t done = ++m_done; m_request.progress && (done % 64 == 0 || done == total) && !m_request.progress(done, total))
        m_stop = true;
    }
    for (std::thread& helper : helpers)
      helper.join();
    if (m_stop)
      return Error(ErrorCode::interrupted, "stopped while judging files; nothing was sent");
    return ok();
  }

  void judge_candidate(Candidate& candidate) {
    if (candidate.objection)
      return;
    if (candidate.generated != nullptr) {
      const std::string& text = candidate.generated->bytes;
      const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      candidate.judged = judge_bytes(candidate.path, bytes, *candidate.set);
    } else if (Result<void> read = read_candidate(candidate); !read) {
      const bool changed = read.error().code() == ErrorCode::changed;
      candidate.objection = built_in(changed ? "builtin.changed" : "builtin.unreadable", read.error().message());
      return;
    }
    candidate.objection = content_objection(*candidate.set, candidate.path, candidate.judged.digest, candidate.judged.inspection);
    if (!candidate.objection)
      candidate.objection = project_objection(m_policy, *candidate.set, candidate.path, candidate.identity.size_bytes, candidate.judged.inspection.kind, m_request.host, m_request.purpose);
  }

  Result<void> read_candidate(Candidate& candidate) {
    const bool cacheable = m_request.cache != nullptr && candidate.set->data_class != DataClass::anonymized;
    if (cacheable) {
      if (auto known = m_request.cache->find(candidate.path, candidate.identity)) {
        candidate.judged = std::move(*known);
        return ok();
      }
    }
    RM_ASSIGN(const UniqueFd fd, open_below(m_root.get(), candidate.path));
    RM_ASSIGN(const std::vector<std::uint8_t> bytes, read_whole(fd.get(), candidate.identity));
    candidate.judged = judge_bytes(candidate.path, bytes, *candidate.set);
    const std::int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    if (cacheable && std::max(candidate.identity.modified_ns, candidate.identity.changed_ns) + k_racy_ns < now_ns)
      m_request.cache->keep(candidate.path, candidate.identity, candidate.judged);
    return ok();
  }

  // ------------------------------------------------------------------------------------------------ result
  void decide(const WalkEntry& entry, FileVerdict verdict, Ruling ruling) {
    FileDecision decision;
    decision.path = clean_line(entry.path) + (entry.kind == WalkKind::folder ? "/" : "");
    decision.size_bytes = entry.kind == WalkKind::file ? entry.identity.size_bytes : 0;
    decision.verdict = verdict;
    decision.rule = std::move(ruling.rule);
    decision.layer = std::move(ruling.layer);
    decision.place = std::move(ruling.place);
    decision.reason = std::move(ruling.reason);
    m_judgement.decisions.push_back(std::move(decision));
  }

  void decide(const Candidate& candidate) {
    FileDecision decision;
    decision.path = clean_line(candidate.path);
    decision.size_bytes = candidate.identity.size_bytes;
    decision.data_set = candidate.set->name;
    decision.data_class = name_of(candidate.set->data_class);
    decision.kind = candidate.judged.inspection.kind;
    decision.findings = candidate.judged.inspection.findings;
    if (candidate.objection) {
      decision.verdict = FileVerdict::refused;
      decision.rule = candidate.objection->rule;
      decision.layer = candidate.objection->layer;
      decision.place = candidate.objection->place;
      decision.reason = candidate.objection->reason;
    } else {
      decision.verdict = FileVerdict::approved;
      decision.rule = "builtin.declared";
      decision.layer = "built-in";
      decision.place = candidate.generated != nullptr ? "" : m_policy.file + ":" + std::to_string(candidate.set->line);
      decision.reason = candidate.generated != nullptr ? candidate.generated->description : "";
      if (!decision.findings.empty())
        decision.reason += (decision.reason.empty() ? "" : "; ") + std::string("noted: ") + describe(decision.findings);
    }
    m_judgement.decisions.push_back(std::move(decision));
  }

  void count() {
    for (const FileDecision& decision : m_judgement.decisions) {
      switch (decision.verdict) {
      case FileVerdict::approved:
        ++m_judgement.totals.approved;
        m_judgement.totals.approved_bytes += decision.size_bytes;
        break;
      case FileVerdict::refused:
        ++m_judgement.totals.refused;
        break;
      case FileVerdict::excluded:
        ++m_judgement.totals.excluded;
        break;
      case FileVerdict::not_proposed:
        ++m_judgement.totals.not_proposed;
        break;
      }
    }
  }

  Result<Judgement> conclude() {
    std::sort(m_candidates.begin(), m_candidates.end(), [](const Candidate& a, const Candidate& b) { return a.path < b.path; });
    for (const Candidate& candidate : m_candidates)
      decide(candidate);
    std::sort(m_judgement.decisions.begin(), m_judgement.decisions.end(), [](const FileDecision& a, const FileDecision& b) { return a.path < b.path; });
    count();
    m_judgement.policy_digest = m_policy.digest.hex();
    if (m_judgement.totals.refused == 0)
      RM_TRY(approve());
    return std::move(m_judgement);
  }

  Result<void> approve() {
    auto content = std::make_shared<ApprovedSet::Content>();
    for (Candidate& candidate : m_candidates) {
      RM_ASSIGN(RelPath path, RelPath::create(candidate.path));
      const std::size_t index = content->manifest.files.size();
      std::uint64_t offset = 0;
      for (const ChunkRef& chunk : candidate.judged.chunks) {
        content->chunks.emplace(chunk.digest, ApprovedSet::Content::Place{index, offset, chunk.size_bytes});
        offset += chunk.size_bytes;
      }
      if (candidate.generated != nullptr)
        content->generated[candidate.path] = candidate.generated->bytes;
      content->manifest.files.push_back({std::move(path), candidate.identity.size_bytes, candidate.identity.executable ? Exec::yes : Exec::no, std::move(candidate.judged.chunks)});
    }
    content->root = std::move(m_root);
    m_judgement.approved = ApprovedSet(std::move(content));
    return ok();
  }

  const JudgeRequest& m_request;
  const ProjectPolicy& m_policy;
  const DataSet m_generated_set;
  UniqueFd m_root;
  std::vector<std::optional<Ruling>> m_set_objections; // by data set
  std::vector<Candidate> m_candidates;
  std::atomic<std::size_t> m_next = 0;
  std::atomic<std::uint64_t> m_done = 0;
  std::atomic<bool> m_stop = false;
  Judgement m_judgement;
};

Result<Judgement> judge(const JudgeRequest& request) { return Gate(request).run(); }

nlohmann::json to_json(const Judgement& judgement) {
  using nlohmann::json;
  json files = json::array();
  for (const FileDecision& decision : judgement.decisions) {
    json findings = json::array();
    for (const Finding& finding : decision.findings)
      findings.push_back({{"detector", finding.detector}, {"confidence", name_of(finding.confidence)}, {"count", finding.count}, {"place", finding.place}});
    files.push_back({{"path", decision.path}, {"size_bytes", decision.size_bytes}, {"verdict", name_of(decision.verdict)}, {"data_set", decision.data_set}, {"class", decision.data_class}, {"kind", decision.kind}, {"rule", decision.rule},
                     {"layer", decision.layer}, {"place", decision.place}, {"reason", decision.reason}, {"findings", findings}});
  }
  const Totals& totals = judgement.totals;
  return {{"format", "remotemac-plan"}, {"version", 1}, {"decision", totals.refused > 0 || totals.approved == 0 ? "refused" : "allowed"}, {"files", files}, {"policy_digest", judgement.policy_digest},
          {"totals", {{"approved", totals.approved}, {"approved_bytes", totals.approved_bytes}, {"refused", totals.refused}, {"excluded", totals.excluded}, {"not_proposed", totals.not_proposed}}}};
}

TextVerdict judge_text(const std::string& name, const std::string& text) {
  const std::string normal = normalize_for_scan(text);
  std::vector<Finding> heavy;
  for (Finding& finding : summarize(normal, detect(normal), name)) {
    if (finding.confidence >= Confidence::medium)
      heavy.push_back(std::move(finding));
  }
  if (heavy.empty())
    return {true, {}};
  return {false, describe(heavy)};
}

} // namespace remotemac::policies
