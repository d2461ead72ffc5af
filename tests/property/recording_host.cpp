#include "tests/property/recording_host.h"

#include "common/json.h"
#include "common/manifest.h"
#include "common/zstd.h"

#include <nlohmann/json.hpp>
#include <set>

namespace remotemac::property {
namespace {
using nlohmann::json;
const std::string k_nonce = "0123456789abcdef0123456789abcdef";

// Answers one push from offer to commit.
void serve(test::ServerSide& side, HostKind kind) {
  side.ready(k_nonce);
  side.hello();
  json offer = side.next_request();
  std::string manifest_text;
  for (std::int64_t i = 0; i < json_int(json_at(offer, "params"), "parts"); ++i) {
    const std::optional<Frame> frame = side.next_frame();
    if (!frame)
      return;
    const Result<std::vector<std::uint8_t>> part = zstd_decompress(frame->payload, std::size_t{64} << 20);
    if (!part)
      return;
    manifest_text.append(part->begin(), part->end());
  }
  const Result<Manifest> manifest = parse_manifest(manifest_text);
  if (!manifest)
    return;
  std::set<std::string> missing;
  std::uint64_t bytes = 0;
  std::size_t number = 0;
  for (const ManifestFile& file : manifest->files) {
    bytes += file.size_bytes;
    for (const ChunkRef& chunk : file.chunks) {
      if (kind != HostKind::knows_half || ++number % 2 == 0)
        missing.insert(chunk.digest.hex());
    }
  }
  json wishes(missing);
  if (kind == HostKind::greedy)
    wishes.push_back(sha256("something that was never offered").hex());
  side.result(offer, {{"present", false}, {"missing", wishes}});
  json next = side.next_request();
  if (json_text(next, "method") == "blobs.put") {
    for (std::optional<Frame> frame = side.next_frame(); frame && !frame->payload.empty(); frame = side.next_frame()) {
    }
    side.result(next, {{"stored", missing.size()}, {"duplicate", 0}, {"bytes", 0}});
    next = side.next_request();
  }
  if (json_text(next, "method") == "snapshot.commit")
    side.result(next, {{"snapshot", manifest->digest().hex()}, {"files", manifest->files.size()}, {"bytes", bytes}});
  side.wait_for_the_end();
}
} // namespace

PushOutcome push_recorded(const policies::ApprovedSet& approved, HostKind kind, std::size_t fail_at, const std::function<Result<void>()>& before) {
  const test::Recording recording = std::make_shared<std::vector<std::uint8_t>>();
  test::ScriptedServer server([kind](test::ServerSide& side) { serve(side, kind); });
  std::unique_ptr<ByteStream> line = server.client_end();
  if (fail_at > 0)
    line = std::make_unique<test::FlakyStream>(std::move(line), fail_at);
  line = std::make_unique<test::RecordingStream>(std::move(line), recording);
  sync::ClientOptions options;
  options.program = "/far/remotemacd";
  options.state_dir = "/far/state";
  options.start_timeout = options.request_timeout = options.stall_timeout = std::chrono::seconds(20);
  PushOutcome out{Error(ErrorCode::internal, "not run"), {}, true};
  Result<std::unique_ptr<sync::RemoteClient>> client = sync::RemoteClient::open(std::move(line), k_nonce, options, "mini1");
  if (client) {
    const std::size_t greeting = recording->size();
    sync::PushOptions push;
    push.before_first_byte = [&]() -> Result<void> {
      out.allowed_first = recording->size() == greeting;
      return before();
    };
    out.report = sync::push(**client, approved, push);
    client->reset();
  } else {
    out.report = std::move(client).error();
  }
  out.on_the_wire = test::unpack_recording(*recording);
  return out;
}

} // namespace remotemac::property
