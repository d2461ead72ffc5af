#include "policies/proposal.h"

#include "common/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace remotemac::policies {
namespace {
constexpr std::uint64_t k_largest_file = std::uint64_t{2} << 30;

bool is_clutter(std::string_view name) { return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini" || name.starts_with("._"); }

// The data set of what remotemac itself adds: code, by declaration of its maker.
const DataSet& generated_set() {
  static const DataSet set = [] {
    DataSet out;
    out.name = "remotemac";
    out.data_class = DataClass::code;
    return out;
  }();
  return set;
}

class Proposer {
public:
  explicit Proposer(const JudgeRequest& request) : m_request(request), m_policy(*request.policy) {}

  Result<Proposal> run() {
    RM_ASSIGN(m_out.root, open_root(m_request.root));
    const std::optional<Ruling> host = host_objection(m_request.host, m_request.now);
    for (const DataSet& set : m_policy.data) {
      auto objection = declaration_objection(set, m_policy.file, m_request.host, m_request.now);
      m_set_objections.push_back(host ? host : std::move(objection));
    }
    RM_TRY(walk(m_out.root.get(), [this](const WalkEntry& entry) { return visit(entry); }));
    add_generated(host);
    return std::move(m_out);
  }

private:
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
    m_out.candidates.push_back(std::move(candidate));
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
      candidate.set = &generated_set();
      candidate.generated = &file;
      candidate.objection = host;
      if (!RelPath::create(file.path))
        candidate.objection = built_in("builtin.bad-name", "its name cannot be sent");
      m_out.candidates.push_back(std::move(candidate));
    }
  }

  void decide(const WalkEntry& entry, FileVerdict verdict, Ruling ruling) {
    FileDecision decision;
    decision.path = clean_line(entry.path) + (entry.kind == WalkKind::folder ? "/" : "");
    decision.size_bytes = entry.kind == WalkKind::file ? entry.identity.size_bytes : 0;
    decision.verdict = verdict;
    decision.rule = std::move(ruling.rule);
    decision.layer = std::move(ruling.layer);
    decision.place = std::move(ruling.place);
    decision.reason = std::move(ruling.reason);
    m_out.decisions.push_back(std::move(decision));
  }

  const JudgeRequest& m_request;
  const ProjectPolicy& m_policy;
  std::vector<std::optional<Ruling>> m_set_objections; // by data set
  Proposal m_out;
};

std::string key_of(const std::string& prefix) {
  const Result<RelPath> path = RelPath::create(prefix);
  return path ? path->collision_key() : prefix;
}

template <typename Action> void each_prefix(const std::string& path, const Action& action) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
    action(path.substr(0, end));
  action(path);
}

// Two spellings of one name, in any part of the path, that a Mac's file system would make one.
void object_to_collisions(std::vector<Candidate>& candidates) {
  std::map<std::string, std::string> spelling; // folded prefix -> first spelling
  std::set<std::string> clashing;              // folded prefixes with more than one
  std::set<std::string> whole; // a path twice: a generated file with a project file's name
  for (const Candidate& candidate : candidates) {
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
  for (Candidate& candidate : candidates) {
    each_prefix(candidate.path, [&](const std::string& prefix) {
      if (!candidate.objection && clashing.contains(key_of(prefix)))
        candidate.objection = built_in("builtin.collision", "'" + clean_line(prefix, 200) + "' has a twin that differs only in case or Unicode form; a Mac would make them one");
    });
  }
}
} // namespace

Result<Proposal> propose(const JudgeRequest& request) {
  RM_ASSIGN(Proposal out, Proposer(request).run());
  object_to_collisions(out.candidates);
  return out;
}

} // namespace remotemac::policies
