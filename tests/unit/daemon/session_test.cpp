// Clients that misbehave, and the snapshot messages by hand.
#include "tests/unit/daemon/daemon_fixture.h"

#include "common/json.h"
#include "common/zstd.h"

#include <random>

namespace remotemac::daemon {
namespace {
using nlohmann::json;
std::string code_of(const json& answer) { return json_text(json_at(json_at(answer, "error"), "data"), "code"); }
std::string packed(const std::string& text) {
  const auto bytes = zstd_compress({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, 1).value();
  return {bytes.begin(), bytes.end()};
}

class SessionTest : public DaemonFixture {
protected:
  // The daemon is alive and sane afterwards, whatever was sent to it.
  void expect_alive() {
    const auto client = connect();
    EXPECT_TRUE(client->list().has_value());
  }
};

TEST_F(SessionTest, HelloMustComeFirst) {
  RawClient raw(state(), false);
  EXPECT_EQ(code_of(raw.call("job.list", json::object())), "protocol");
  EXPECT_TRUE(raw.hung_up());
}

TEST_F(SessionTest, VersionsThatDoNotMeetAreNamed) {
  for (const auto& [least, most] : {std::pair{2, 9}, std::pair{0, 0}, std::pair{9, 2}}) {
    RawClient raw(state(), false);
    const json answer = raw.call("hello", {{"client_version", "x"}, {"protocol_min", least}, {"protocol_max", most}});
    EXPECT_EQ(code_of(answer), "protocol-mismatch") << answer.dump();
    EXPECT_EQ(json_int(json_at(json_at(answer, "error"), "data"), "protocol_max"), 1);
  }
}

TEST_F(SessionTest, ErrorsLeaveTheConnectionUsable) {
  RawClient raw(state(), true);
  EXPECT_EQ(code_of(raw.call("job.dance", json::object())), "usage");
  EXPECT_EQ(code_of(raw.call("job.status", {{"job", "../../etc"}})), "no-job");
  EXPECT_EQ(code_of(raw.call("job.status", {{"job", 5}})), "usage");
  EXPECT_EQ(code_of(raw.call("job.status", {{"job", "jaaaaaaaaaaaa"}})), "no-job");
  EXPECT_EQ(code_of(raw.call("job.forget", {{"job", "jaaaaaaaaaaaa"}})), "no-job");
  EXPECT_EQ(code_of(raw.call("snapshot.commit", {{"manifest_digest", std::string(64, 'a')}})), "remote-refused");
  EXPECT_TRUE(raw.call("job.submit", {{"spec", {{"version", 1}}}}).contains("error"));
  EXPECT_TRUE(raw.call("job.list", json::object()).contains("jobs"));
}

TEST_F(SessionTest, WhatIsNoRequestEndsTheConnection) {
  const std::vector<std::string> texts{"", "{", "[]", "5", R"({"jsonrpc":"1.0","id":1,"method":"job.list","params":{}})",
                                       R"({"jsonrpc":"2.0","id":"x","method":"job.list","params":{}})", R"({"jsonrpc":"2.0","id":1,"method":"job.list","params":[]})",
                                       std::string(100'000, '[')};
  for (const std::string& text : texts) {
    RawClient raw(state(), true);
    raw.send_frame(FrameType::control, text);
    EXPECT_TRUE(raw.hung_up()) << text.substr(0, 80);
  }
  RawClient raw(state(), true);
  raw.send_frame(FrameType::data, "x");
  EXPECT_TRUE(raw.hung_up());
  expect_alive();
}

TEST_F(SessionTest, RandomBytesNeverHurtTheDaemon) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    RawClient raw(state(), round % 2 == 0);
    std::string bytes(1 + random() % 300, '\0');
    for (char& each : bytes)
      each = static_cast<char>(static_cast<std::uint8_t>(random()));
    if (round % 3 == 0)
      bytes.replace(0, std::min<std::size_t>(3, bytes.size()), std::min<std::size_t>(3, bytes.size()), '\0'); // a plausible length
    raw.send_bytes(bytes);
  }
  expect_alive();
}

TEST_F(SessionTest, ChunksThatLieAreRefusedAndNothingIsKept) {
  RawClient raw(state(), true);
  raw.request("blobs.put", json::object());
  raw.send_frame(FrameType::pack, pack_of({{sha256(std::string_view("good")), "good"}, {sha256(std::string_view("other")), "bad"}}));
  EXPECT_EQ(code_of(raw.receive()), "protocol");
  EXPECT_TRUE(raw.hung_up());
  const std::string lie = sha256(std::string_view("other")).hex();
  EXPECT_FALSE(std::filesystem::exists(state() / "blobs" / lie.substr(0, 2) / lie));
}

TEST_F(SessionTest, BrokenPacksAndBombsAreRefused) {
  const std::string bomb = packed(std::string(std::size_t{40} << 20, '\0'));
  for (const std::string& frame : {std::string("not zstd"), packed("half a record"), bomb}) {
    RawClient raw(state(), true);
    raw.request("blobs.put", json::object());
    raw.send_frame(FrameType::pack, frame);
    EXPECT_EQ(code_of(raw.receive()), "protocol");
  }
  expect_alive();
}

TEST_F(SessionTest, OffersThatLieAreRefused) {
  const std::string text = manifest_of({{"a.txt", "abc"}}).canonical();
  const std::string digest = sha256(text).hex();
  const auto offer = [&](const std::string& name, std::size_t size, const std::string& sent) {
    RawClient raw(state(), true);
    raw.request("snapshot.offer", {{"manifest_digest", name}, {"size_bytes", size}, {"parts", 1}});
    raw.send_frame(FrameType::manifest, packed(sent));
    return raw.receive();
  };
  EXPECT_TRUE(offer(digest, text.size(), text).contains("result"));
  EXPECT_EQ(code_of(offer(std::string(64, 'b'), text.size(), text)), "corrupt");
  EXPECT_EQ(code_of(offer(digest, text.size() + 1, text)), "protocol");
  EXPECT_EQ(code_of(offer(digest, text.size() - 1, text)), "protocol");
  for (const char* path : {"../a.txt", "/a.txt", "a/../b", "a//b", ".."}) {
    const std::string bad = R"({"files":[{"chunks":[],"exec":false,"path":")" + std::string(path) + R"(","size":0}],"version":1})";
    EXPECT_TRUE(offer(sha256(bad).hex(), bad.size(), bad).contains("error")) << path;
  }
  expect_alive();
}

TEST_F(SessionTest, ACommitWithoutItsChunksSaysSoAndCanBeRepeated) {
  const Files files{{"a.txt", "abc"}};
  const std::string text = manifest_of(files).canonical();
  RawClient raw(state(), true);
  raw.request("snapshot.offer", {{"manifest_digest", sha256(text).hex()}, {"size_bytes", text.size()}, {"parts", 1}});
  raw.send_frame(FrameType::manifest, packed(text));
  const json answer = raw.receive();
  EXPECT_EQ(json_at(answer, "result"), (json{{"present", false}, {"missing", {sha256(std::string_view("abc")).hex()}}}));
  EXPECT_EQ(code_of(raw.call("snapshot.commit", {{"manifest_digest", sha256(text).hex()}})), "corrupt");
  EXPECT_EQ(push(files), sha256(text));
  EXPECT_EQ(json_int(raw.call("snapshot.commit", {{"manifest_digest", sha256(text).hex()}}), "files"), 1);
}
} // namespace
} // namespace remotemac::daemon
