#include "policies/gate.h"

#include "common/text.h"
#include "policies/approved_content.h"
#include "policies/detectors.h"
#include "policies/proposal.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace remotemac::policies {
namespace {
constexpr std::size_t k_chunk_bytes = std::size_t{2} << 20;
constexpr std::int64_t k_racy_ns = 2'000'000'000;

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
} // namespace

class Gate {
public:
  explicit Gate(const JudgeRequest& request) : m_request(request), m_policy(*request.policy) {}

  Result<Judgement> run() {
    RM_ASSIGN(Proposal proposal, propose(m_request));
    m_root = std::move(proposal.root);
    m_candidates = std::move(proposal.candidates);
    m_judgement.decisions = std::move(proposal.decisions);
    if (m_request.cache != nullptr)
      m_request.cache->load(std::filesystem::absolute(m_request.root).lexically_normal().string());
    RM_TRY(judge_candidates());
    if (m_request.cache != nullptr)
      m_request.cache->save();
    return conclude();
  }

private:
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
  UniqueFd m_root;
  std::vector<Candidate> m_candidates;
  std::atomic<std::size_t> m_next = 0;
  std::atomic<std::uint64_t> m_done = 0;
  std::atomic<bool> m_stop = false;
  Judgement m_judgement;
};

Result<Judgement> judge(const JudgeRequest& request) { return Gate(request).run(); }

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
