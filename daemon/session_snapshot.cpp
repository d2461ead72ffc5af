// The messages of a session that carry frames of their own: snapshot.offer, blobs.put, and snapshot.commit that ends them.
#include "common/log.h"
#include "common/text.h"
#include "common/zstd.h"
#include "daemon/pack.h"
#include "daemon/params.h"
#include "daemon/session.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
using nlohmann::json;
constexpr std::uint64_t k_manifest_max_bytes = std::uint64_t{128} << 20;  // 600 000 files
constexpr std::uint64_t k_manifests_max_bytes = std::uint64_t{256} << 20; // of all connections
constexpr std::uint64_t k_manifest_max_parts = 4096;
constexpr std::uint64_t k_keep_free_bytes = std::uint64_t{64} << 20;
constexpr std::size_t k_missing_max = 450'000; // so many digests fit into the one control frame of the answer

struct Counts {
  std::uint64_t stored = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t bytes = 0;
};

// A disk that a push has filled to the last byte cannot take the records of running jobs any more.
Result<void> check_room(DaemonParts& parts) {
  const Result<std::uint64_t> room = parts.disk.free_bytes(parts.state.root());
  if (room && *room < k_keep_free_bytes)
    return Error(ErrorCode::disk_full, "the host's disk has " + human_bytes(*room) + " free, and " + human_bytes(k_keep_free_bytes) + " are kept free for running jobs",
                 "free some space on the host (df -h there), then run the same command again: it goes on from here");
  return ok();
}

Result<void> store_pack(BlobStore& blobs, std::span<const std::uint8_t> packed, Counts& counts) {
  RM_ASSIGN(const std::vector<std::uint8_t> unpacked, zstd_decompress(packed, k_pack_max_unpacked_bytes));
  RM_ASSIGN(const std::vector<PackRecord> records, parse_pack(unpacked));
  for (const PackRecord& each : records) {
    RM_ASSIGN(const BlobStore::Stored stored, blobs.put(each.digest, each.bytes));
    ++(stored == BlobStore::Stored::fresh ? counts.stored : counts.duplicate);
    counts.bytes += each.bytes.size();
  }
  return ok();
}
} // namespace

// A manifest is read, unpacked and parsed in large pieces of memory: all connections together hold so much at most.
class Session::Announced {
public:
  [[nodiscard]] static Result<Announced> take(Engine& engine, std::uint64_t size_bytes) {
    if (size_bytes > k_manifest_max_bytes)
      return Error(ErrorCode::remote_refused, "the list of the project's files has " + human_bytes(size_bytes) + ", more than the " + human_bytes(k_manifest_max_bytes) + " that this host takes",
                   "pack many small files into few (an archive, npz), or narrow include");
    if (engine.manifest_bytes + size_bytes > k_manifests_max_bytes)
      return Error(ErrorCode::remote_refused, "this host is taking in other large projects just now", "run the same command again in a minute");
    return Announced(engine, size_bytes);
  }
  Announced(Announced&& other) noexcept : m_engine(other.m_engine), m_size_bytes(std::exchange(other.m_size_bytes, 0)) {}
  Announced& operator=(Announced&&) = delete;
  ~Announced() { m_engine.manifest_bytes -= m_size_bytes; }

private:
  Announced(Engine& engine, std::uint64_t size_bytes) : m_engine(engine), m_size_bytes(size_bytes) { m_engine.manifest_bytes += size_bytes; }
  Engine& m_engine;
  std::uint64_t m_size_bytes;
};

Task<std::shared_ptr<const Manifest>> Session::read_manifest(const Digest& digest, std::uint64_t size_bytes, std::uint64_t parts) {
  RM_CO_ASSIGN(const Announced announced, Announced::take(m_engine, size_bytes));
  std::string text;
  for (std::uint64_t i = 0; i < parts; ++i) {
    RM_CO_ASSIGN(const std::optional<Frame> frame, co_await m_line.read_frame(Line::Expect::rest_of_request));
    if (!frame || frame->type != FrameType::manifest)
      co_return Error(ErrorCode::protocol, "the client did not send the manifest that it announced");
    const std::function<Result<void>()> unpack = [&]() -> Result<void> {
      const std::uint64_t room = std::min<std::uint64_t>(size_bytes - text.size(), k_manifest_max_unpacked_bytes);
      RM_ASSIGN(const std::vector<std::uint8_t> part, zstd_decompress(frame->payload, room));
      text.append(part.begin(), part.end());
      return ok();
    };
    RM_CO_TRY(co_await ask_on(m_engine.readers, unpack));
  }
  if (text.size() != size_bytes)
    co_return Error(ErrorCode::protocol, "the manifest has another size than announced");
  m_next = Next::go_on; // all its frames are read
  const std::function<Result<std::shared_ptr<const Manifest>>()> parse_text = [&]() -> Result<std::shared_ptr<const Manifest>> {
    if (sha256(text) != digest)
      return Error(ErrorCode::corrupt, "the manifest is not the one that was announced", "run the same command again");
    RM_ASSIGN(Manifest manifest, parse_manifest(text));
    return std::shared_ptr<const Manifest>(std::make_shared<const Manifest>(std::move(manifest)));
  };
  co_return co_await ask_on(m_engine.readers, parse_text);
}

Result<Reply> Session::look_at_offer(const std::shared_ptr<const Manifest>& offered, const Digest& digest) {
  SnapshotStore& snapshots = m_engine.parts.snapshots;
  snapshots.pin(offered);
  const bool present = snapshots.has(digest);
  if (present)
    RM_TRY(snapshots.touch(*offered));
  const std::vector<Digest> lacking = present ? std::vector<Digest>() : snapshots.missing(*offered);
  if (lacking.size() > k_missing_max)
    return Error(ErrorCode::remote_refused, "the project has " + std::to_string(lacking.size()) + " chunks that this host lacks, more than the " + std::to_string(k_missing_max) + " of one push",
                 "pack many small files into few (an archive, npz), or narrow include");
  json missing = json::array();
  for (const Digest& each : lacking)
    missing.push_back(each.hex());
  return Reply(json{{"present", present}, {"missing", std::move(missing)}});
}

Task<Reply> Session::offer(const json& params) {
  m_offer.reset();
  m_next = Next::hang_up; // until all its frames are read, nothing else can be understood
  RM_CO_ASSIGN(const Digest digest, digest_param(params, "manifest_digest"));
  RM_CO_ASSIGN(const std::uint64_t size_bytes, number_param(params, "size_bytes", 1, INT64_MAX));
  RM_CO_ASSIGN(const std::uint64_t parts, number_param(params, "parts", 1, k_manifest_max_parts));
  RM_CO_ASSIGN(const std::shared_ptr<const Manifest> offered, co_await read_manifest(digest, size_bytes, parts));
  const std::function<Result<Reply>()> look = [&] { return look_at_offer(offered, digest); };
  RM_CO_ASSIGN(Reply reply, co_await ask_on(m_engine.storage, look));
  m_offer = offered;
  m_offer_digest = digest;
  co_return std::move(reply);
}

// An error is answered at once and ends the connection: the packs that still come are of no use.
Task<Reply> Session::put_blobs() {
  m_next = Next::hang_up;
  Counts counts;
  while (true) {
    RM_CO_ASSIGN(const std::optional<Frame> frame, co_await m_line.read_frame(Line::Expect::rest_of_request));
    if (!frame || frame->type != FrameType::pack)
      co_return Error(ErrorCode::protocol, "the client sent something else where a pack was due");
    if (frame->payload.empty())
      break;
    const std::function<Result<void>()> store = [&]() -> Result<void> {
      RM_TRY(check_room(m_engine.parts));
      return store_pack(m_engine.parts.blobs, frame->payload, counts);
    };
    RM_CO_TRY(co_await ask_on(m_engine.storage, store));
  }
  m_next = Next::go_on;
  co_return Reply(json{{"stored", counts.stored}, {"duplicate", counts.duplicate}, {"bytes", counts.bytes}});
}

Task<Reply> Session::commit(const json& params) {
  RM_CO_ASSIGN(const Digest digest, digest_param(params, "manifest_digest"));
  if (!m_offer || m_offer_digest != digest)
    co_return Error(ErrorCode::remote_refused, "the snapshot was not offered on this connection", "push the project again");
  const std::function<Result<SnapshotSummary>()> build = [&]() -> Result<SnapshotSummary> {
    RM_TRY(check_room(m_engine.parts));
    return m_engine.parts.snapshots.commit(*m_offer);
  };
  RM_CO_ASSIGN(const SnapshotSummary built, co_await ask_on(m_engine.building(digest), build));
  log_event(LogLevel::info, "sync", "snapshot", {{"digest", digest.hex().substr(0, 12)}, {"files", std::to_string(built.files)}});
  co_return Reply(json{{"snapshot", digest.hex()}, {"files", built.files}, {"bytes", built.size_bytes}});
}

} // namespace remotemac::daemon
