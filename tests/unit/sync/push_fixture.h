#pragma once
// A judged project, and a host that takes what is pushed to it, keeps what it got over several connections, and lies where told to.
#include "common/json.h"
#include "common/zstd.h"
#include "policies/gate.h"
#include "sync/uploader.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/sync/client_fixture.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace remotemac::sync {

enum class Lie { none, wants_unoffered, wants_twice, present_and_wants, miscounts, builds_other, refuses };

class PushHost {
public:
  explicit PushHost(Lie lie = Lie::none) : m_lie(lie) {}

  // What lies on the host: content by digest. Look when no connection is open.
  [[nodiscard]] const std::map<std::string, std::string>& chunks() const { return m_chunks; }
  [[nodiscard]] const std::string& manifest_text() const { return m_manifest_text; }
  [[nodiscard]] int commits() const { return m_commits; }

  // Answers one push; what follows ready and hello.
  void serve(test::ServerSide& side) {
    const nlohmann::json offer = side.next_request();
    std::string text;
    for (std::int64_t i = 0; i < json_int(json_at(offer, "params"), "parts"); ++i) {
      const std::optional<Frame> frame = side.next_frame();
      const auto part = frame ? zstd_decompress(frame->payload, k_manifest_max_unpacked_bytes) : Result<std::vector<std::uint8_t>>(Error(ErrorCode::connection, "gone"));
      if (!part)
        return;
      text.append(part->begin(), part->end());
    }
    m_manifest_text = text;
    const Result<Manifest> manifest = parse_manifest(text);
    if (!manifest)
      return;
    side.result(offer, answer(*manifest));
    nlohmann::json next = side.next_request();
    if (json_text(next, "method") == "blobs.put") {
      if (m_lie == Lie::refuses) {
        side.error(next, "disk-full", "no space left for the project", {});
        return side.wait_for_the_end();
      }
      std::uint64_t stored = 0;
      std::optional<Frame> frame = side.next_frame();
      for (; frame && !frame->payload.empty(); frame = side.next_frame())
        stored += keep(frame->payload);
      if (!frame)
        return;
      side.result(next, {{"stored", stored + (m_lie == Lie::miscounts ? 1 : 0)}, {"duplicate", 0}, {"bytes", 0}});
      next = side.next_request();
    }
    if (json_text(next, "method") == "snapshot.commit") {
      ++m_commits;
      const std::string name = m_lie == Lie::builds_other ? sha256(std::string_view("other")).hex() : manifest->digest().hex();
      side.result(next, {{"snapshot", name}, {"files", manifest->files.size()}, {"bytes", manifest->total_bytes()}});
    }
    side.wait_for_the_end();
  }

private:
  [[nodiscard]] nlohmann::json answer(const Manifest& manifest) const {
    std::set<std::string> missing;
    for (const ManifestFile& file : manifest.files) {
      for (const ChunkRef& chunk : file.chunks) {
        if (!m_chunks.contains(chunk.digest.hex()))
          missing.insert(chunk.digest.hex());
      }
    }
    nlohmann::json wishes(missing);
    if (m_lie == Lie::wants_unoffered)
      wishes.push_back(sha256(std::string_view("a file that was never offered")).hex());
    if (m_lie == Lie::wants_twice)
      wishes.push_back(*missing.begin());
    return {{"present", m_lie == Lie::present_and_wants}, {"missing", wishes}};
  }

  // Records of docs/protocol.md.
  std::uint64_t keep(std::span<const std::uint8_t> compressed) {
    const auto raw = zstd_decompress(compressed, k_pack_max_unpacked_bytes);
    EXPECT_TRUE(raw.has_value());
    std::uint64_t count = 0;
    for (std::size_t at = 0; raw && at + 36 <= raw->size();) {
      std::size_t size = 0;
      for (std::size_t i = 32; i < 36; ++i)
        size = size << 8 | (*raw)[at + i];
      const std::string content(raw->begin() + static_cast<std::ptrdiff_t>(at + 36), raw->begin() + static_cast<std::ptrdiff_t>(at + 36 + size));
      const std::string name = to_hex_of(std::span(*raw).subspan(at, 32));
      EXPECT_EQ(sha256(content).hex(), name);
      m_chunks[name] = content;
      at += 36 + size;
      ++count;
    }
    return count;
  }
  static std::string to_hex_of(std::span<const std::uint8_t> bytes) {
    Digest digest;
    std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
    return digest.hex();
  }

  Lie m_lie;
  std::map<std::string, std::string> m_chunks;
  std::string m_manifest_text;
  int m_commits = 0;
};

inline constexpr std::size_t k_small = 100'000;               // one pack
inline constexpr std::size_t k_large = std::size_t{9} << 19; // 4.5 MiB: more than one pack

// Three files may leave; three may not: one is excluded, two lie where nothing was declared.
struct PushProject {
  test::TempDir dir;

  explicit PushProject(std::size_t size = k_small) {
    std::string large;
    for (std::uint64_t state = 1; large.size() < size;) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      large += static_cast<char>(state >> 56);
    }
    test::write_file(dir / "src/train.py", "print('approved-canary-1')\n");
    test::write_file(dir / "src/model/net.py", "x = 'approved-canary-2'\n");
    test::write_file(dir / "src/weights.bin.py", "# " + to_hex_text(large));
    test::write_file(dir / "src/local_notes.py", "# denied-canary-1\n");
    test::write_file(dir / "outside/patients.csv", "denied-canary-2\n");
    test::write_file(dir / "secret.txt", "denied-canary-3\n");
  }

  static std::string to_hex_text(const std::string& bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      out += digits[static_cast<unsigned char>(bytes[i]) & 15];
      if (i % 60 == 59)
        out += "\n# ";
    }
    return out + "\n";
  }

  [[nodiscard]] policies::ApprovedSet judge() const {
    const std::string text = "[[data]]\nname = \"source\"\nclass = \"code\"\ninclude = [\"src/**\"]\n"
                             "[[exclude]]\npaths = [\"src/local_notes.py\"]\nreason = \"private\"\n";
    const Result<policies::ProjectPolicy> policy = policies::parse_project_policy(text, "remotemac.toml");
    EXPECT_TRUE(policy.has_value()) << policy.error().chain();
    policies::JudgeRequest request;
    request.root = dir.path();
    request.policy = &*policy;
    request.host.name = "mini1";
    request.purpose = "coursework";
    request.now = policies::Moment(std::chrono::sys_days(std::chrono::year(2026) / 12 / 1));
    const Result<policies::Judgement> judgement = policies::judge(request);
    EXPECT_TRUE(judgement.has_value()) << judgement.error().chain();
    EXPECT_EQ(judgement->approved.manifest().files.size(), 3U) << policies::to_json(*judgement).dump(1);
    return judgement->approved;
  }
};

struct Pushed {
  Result<PushReport> report{Error(ErrorCode::internal, "not run")};
  std::string wire; // all that was sent, in clear
  bool line_failed = false;
};

// fail_at 0: the line holds. The recording is made on our side of the failing line, so it holds what we tried to send too.
inline Pushed push_to(PushHost& host, const policies::ApprovedSet& approved, const PushOptions& options = {}, std::size_t fail_at = 0) {
  Pushed out;
  const test::Recording recording = std::make_shared<std::vector<std::uint8_t>>();
  {
    test::ScriptedServer server([&](test::ServerSide& side) {
      side.ready(k_nonce);
      side.hello();
      host.serve(side);
    });
    auto flaky = std::make_unique<test::FlakyStream>(server.client_end(), fail_at == 0 ? std::size_t(-1) : fail_at);
    const test::FlakyStream* const line = flaky.get();
    auto client = RemoteClient::open(std::make_unique<test::RecordingStream>(std::move(flaky), recording), k_nonce, quick_options(), "mini1");
    if (client) {
      out.report = push(**client, approved, options);
      out.line_failed = line->has_failed();
    } else {
      out.report = std::move(client).error();
      out.line_failed = true;
    }
  }
  out.wire = test::unpack_recording(*recording);
  return out;
}

} // namespace remotemac::sync
