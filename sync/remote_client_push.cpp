// The messages of RemoteClient that carry a snapshot to the host; for the uploader only.
#include "sync/remote_client.h"

#include "common/json.h"
#include "common/zstd.h"

#include <array>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_manifest_part_bytes = std::size_t{4} << 20; // stays below the frame's cap even if it does not compress

std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
} // namespace

Result<OfferAnswer> RemoteClient::offer_snapshot(const std::string& canonical_manifest, const Digest& digest) {
  const std::size_t parts = (canonical_manifest.size() + k_manifest_part_bytes - 1) / k_manifest_part_bytes;
  RM_TRY(send_request("snapshot.offer", {{"manifest_digest", digest.hex()}, {"size_bytes", canonical_manifest.size()}, {"parts", parts}}));
  OfferAnswer out;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string_view part = std::string_view(canonical_manifest).substr(i * k_manifest_part_bytes, k_manifest_part_bytes);
    RM_ASSIGN(const std::vector<std::uint8_t> packed, zstd_compress(bytes_of(part), 3));
    RM_TRY(send_payload(FrameType::manifest, packed, "snapshot.offer"));
    out.bytes_sent += packed.size();
  }
  RM_ASSIGN(const nlohmann::json answer, read_answer("snapshot.offer", k_work_wait));
  const nlohmann::json& present = json_at(answer, "present");
  const nlohmann::json& missing = json_at(answer, "missing");
  if (!present.is_boolean() || !missing.is_array())
    return lied("answered an offer in a way that is not allowed");
  out.present = present.get<bool>();
  for (const nlohmann::json& each : missing) {
    const Result<Digest> wanted = each.is_string() ? Digest::from_hex(each.get_ref<const std::string&>()) : Result<Digest>(Error(ErrorCode::protocol, ""));
    if (!wanted)
      return lied("asks for a chunk by something that is not a digest");
    out.missing.push_back(*wanted);
  }
  return out;
}

// A daemon that cannot go on (a full disk, say) may answer early and stop reading: its reason is worth more than our broken pipe.
Result<void> RemoteClient::send_payload(FrameType type, std::span<const std::uint8_t> payload, const char* method, const OnPiece& on_piece) {
  if (m_finished)
    return *m_finished;
  if (m_stream.has_input()) {
    Result<nlohmann::json> early = read_answer(method, {});
    if (!early)
      return finished(std::move(early).error());
    return lied(std::string("answered ") + method + " before everything was sent");
  }
  std::array<std::uint8_t, 5> header{};
  const auto length = static_cast<std::uint32_t>(payload.size() + 1);
  for (std::size_t i = 0; i < 4; ++i)
    header[i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
  header[4] = static_cast<std::uint8_t>(type);
  Result<void> sent = write_slowly(header);
  if (sent)
    sent = write_slowly(payload, on_piece);
  if (sent)
    return ok();
  if (sent.error().code() != ErrorCode::interrupted && m_stream.has_input()) {
    Result<nlohmann::json> reason = read_answer(method, {});
    if (!reason && !m_finished)
      return finished(std::move(reason).error());
  }
  return finished(std::move(sent).error_while("sending to " + m_where));
}

Result<void> RemoteClient::begin_packs() { return send_request("blobs.put", nlohmann::json::object()); }

Result<void> RemoteClient::send_pack(std::span<const std::uint8_t> compressed, const OnPiece& on_piece) {
  return send_payload(FrameType::pack, compressed, "blobs.put", on_piece);
}

Result<StoredPacks> RemoteClient::end_packs() {
  RM_TRY(send_payload(FrameType::pack, {}, "blobs.put"));
  RM_ASSIGN(const nlohmann::json answer, read_answer("blobs.put", k_work_wait));
  const std::int64_t stored = json_int(answer, "stored", -1);
  const std::int64_t duplicate = json_int(answer, "duplicate", -1);
  const std::int64_t bytes = json_int(answer, "bytes", -1);
  if (stored < 0 || duplicate < 0 || bytes < 0)
    return lied("did not say what it stored");
  return StoredPacks{static_cast<std::uint64_t>(stored), static_cast<std::uint64_t>(duplicate), static_cast<std::uint64_t>(bytes)};
}

Result<Snapshot> RemoteClient::commit_snapshot(const Digest& digest) {
  RM_ASSIGN(const nlohmann::json answer, call("snapshot.commit", {{"manifest_digest", digest.hex()}}, k_work_wait));
  const Result<Digest> built = Digest::from_hex(json_text(answer, "snapshot"));
  const std::int64_t files = json_int(answer, "files", -1);
  const std::int64_t bytes = json_int(answer, "bytes", -1);
  if (!built || files < 0 || bytes < 0)
    return lied("did not say what it built");
  return Snapshot{*built, static_cast<std::uint64_t>(files), static_cast<std::uint64_t>(bytes)};
}

} // namespace remotemac::sync
