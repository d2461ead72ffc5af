#include "sync/uploader.h"

#include "common/log.h"
#include "sync/packer.h"

#include <unordered_map>
#include <unordered_set>

namespace remotemac::sync {

// The friend of RemoteClient. Everything that it sends comes out of the ApprovedSet.
class Uploader {
public:
  Uploader(RemoteClient& client, const policies::ApprovedSet& approved, const PushOptions& options) : m_client(client), m_approved(approved), m_options(options) {}

  Result<PushReport> run() {
    const auto began = std::chrono::steady_clock::now();
    const Manifest& manifest = m_approved.manifest();
    for (const ManifestFile& file : manifest.files) {
      for (const ChunkRef& chunk : file.chunks)
        m_sizes.emplace(chunk.digest, chunk.size_bytes);
    }
    const std::string canonical = manifest.canonical();
    m_report.snapshot = sha256(canonical);
    m_report.files = manifest.files.size();
    m_report.bytes_total = manifest.total_bytes();
    if (m_options.before_first_byte)
      RM_TRY(m_options.before_first_byte());
    RM_ASSIGN(const OfferAnswer answer, m_client.offer_snapshot(canonical, m_report.snapshot));
    m_report.bytes_sent = answer.bytes_sent;
    RM_TRY(check_wishes(answer));
    m_report.chunks_present = m_sizes.size() - answer.missing.size();
    if (!answer.missing.empty())
      RM_TRY(send(answer.missing));
    if (!answer.present)
      RM_TRY(commit());
    m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    log_event(LogLevel::info, "sync", "pushed", {{"snapshot", m_report.snapshot.hex()}, {"files", std::to_string(m_report.files)}, {"chunks", std::to_string(m_report.chunks_sent)}, {"bytes", std::to_string(m_report.bytes_sent)}});
    return std::move(m_report);
  }

private:
  // A host that asks for anything but what was offered to it is after something else: nothing is sent then.
  Result<void> check_wishes(const OfferAnswer& answer) {
    std::unordered_set<Digest> seen;
    for (const Digest& digest : answer.missing) {
      const auto offered = m_sizes.find(digest);
      if (offered == m_sizes.end() || !seen.insert(digest).second)
        return m_client.lied("asks for a chunk " + std::string(offered == m_sizes.end() ? "that was not offered" : "twice") + "; no content was sent");
      m_to_send += offered->second;
    }
    if (answer.present && !answer.missing.empty())
      return m_client.lied("has the snapshot and asks for its chunks nevertheless; no content was sent");
    return ok();
  }

  Result<void> send(const std::vector<Digest>& missing) {
    if (m_options.progress && !m_options.progress(0, m_to_send))
      return stopped();
    Packer packer(m_approved, missing);
    RM_TRY(m_client.begin_packs());
    while (true) {
      Result<std::optional<Pack>> next = packer.next();
      if (!next) // in the middle of a transfer there is no way to take it back but to hang up
        return m_client.finished(std::move(next).error_while("sending to " + m_client.m_where));
      if (!*next)
        break;
      RM_TRY(send_pack(**next));
    }
    RM_ASSIGN(const StoredPacks stored, m_client.end_packs());
    if (stored.stored + stored.duplicate != m_report.chunks_sent)
      return m_client.lied("stored " + std::to_string(stored.stored + stored.duplicate) + " chunks where " + std::to_string(m_report.chunks_sent) + " were sent");
    return ok();
  }

  Result<void> send_pack(const Pack& pack) {
    const auto on_piece = [&](std::size_t sent) {
      const auto share = static_cast<double>(sent) / static_cast<double>(pack.compressed.size());
      const auto done = m_report.content_bytes + static_cast<std::uint64_t>(share * static_cast<double>(pack.content_bytes));
      return !m_options.progress || m_options.progress(done, m_to_send);
    };
    RM_TRY(m_client.send_pack(pack.compressed, on_piece));
    m_report.bytes_sent += pack.compressed.size();
    m_report.content_bytes += pack.content_bytes;
    m_report.chunks_sent += pack.chunks;
    return ok();
  }

  Result<void> commit() {
    RM_ASSIGN(const Snapshot built, m_client.commit_snapshot(m_report.snapshot));
    if (built.digest != m_report.snapshot || built.files != m_report.files || built.bytes != m_report.bytes_total)
      return m_client.lied("built another snapshot than the one that was sent");
    return ok();
  }

  Error stopped() { return m_client.finished(Error(ErrorCode::interrupted, "stopped while sending", "the same command goes on from here")); }

  RemoteClient& m_client;
  const policies::ApprovedSet& m_approved;
  const PushOptions& m_options;
  PushReport m_report;
  std::unordered_map<Digest, std::uint32_t> m_sizes;
  std::uint64_t m_to_send = 0;
};

Result<PushReport> push(RemoteClient& client, const policies::ApprovedSet& approved, const PushOptions& options) {
  return Uploader(client, approved, options).run();
}

} // namespace remotemac::sync
