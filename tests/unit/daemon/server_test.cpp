// Many clients of one daemon: what one of them does, or fails to do, must not stand in the way of the others.
#include "tests/unit/daemon/server_fixture.h"

#include "common/json.h"

namespace remotemac::daemon {
namespace {
using nlohmann::json;
std::string code_of(const json& answer) { return json_text(json_at(json_at(answer, "error"), "data"), "code"); }
using ServerTest = ServerFixture;

const Files k_large{{"large.py", "print('large')\n"}, {"more/b.txt", "b"}};
const Files k_other{{"other.py", "print('other')\n"}};

TEST_F(ServerTest, WhileASnapshotIsBuiltOthersAreAnswered) {
  start();
  Caller builder = caller();
  const Manifest manifest = manifest_of(k_large, k_chunk_bytes);
  ASSERT_TRUE(builder.offer(manifest).contains("result"));
  ASSERT_TRUE(builder.put(k_large).contains("result"));
  m_disk.hold("clone large.py");
  builder.request("snapshot.commit", {{"manifest_digest", manifest.digest().hex()}});
  ASSERT_TRUE(m_disk.is_holding(k_soon));
  // Everything that another client may want in the meantime, a whole push and a job of its own included.
  Caller other = caller();
  EXPECT_EQ(other.call("ping"), json::object());
  EXPECT_TRUE(other.call("job.list").contains("jobs"));
  const std::string job = submit(other, push(other, k_other));
  EXPECT_EQ(other.call("job.status", {{"job", job}}).value("job", ""), job);
  EXPECT_TRUE(other.call("job.events", {{"job", job}, {"after", 0}, {"wait_ms", 0}}).contains("events"));
  EXPECT_TRUE(m_disk.is_holding(k_soon)) << "all that happened while the snapshot was being built";
  m_disk.release();
  EXPECT_EQ(json_text(json_at(builder.receive(), "result"), "snapshot"), manifest.digest().hex());
}

TEST_F(ServerTest, TwoClientsThatBuildTheSameSnapshotBothGetIt) {
  start();
  Caller first = caller();
  Caller second = caller();
  const Manifest manifest = manifest_of(k_large, k_chunk_bytes);
  ASSERT_TRUE(first.offer(manifest).contains("result"));
  ASSERT_TRUE(second.offer(manifest).contains("result"));
  ASSERT_TRUE(first.put(k_large).contains("result"));
  ASSERT_TRUE(second.put(k_large).contains("result"));
  m_disk.hold("clone large.py");
  for (Caller* each : {&first, &second})
    each->request("snapshot.commit", {{"manifest_digest", manifest.digest().hex()}});
  ASSERT_TRUE(m_disk.is_holding(k_soon));
  m_disk.release();
  for (Caller* each : {&first, &second})
    EXPECT_EQ(json_text(json_at(each->receive(), "result"), "snapshot"), manifest.digest().hex());
}

TEST_F(ServerTest, WhileAJobIsDeletedOthersAreAnswered) {
  start();
  Caller deleter = caller();
  const std::string job = submit(deleter, push(deleter, k_large));
  const std::string stays = submit(deleter, push(deleter, k_other));
  m_disk.hold("remove .discarded-");
  deleter.request("job.forget", {{"job", job}});
  ASSERT_TRUE(m_disk.is_holding(k_soon));
  Caller other = caller();
  EXPECT_EQ(code_of(other.call("job.status", {{"job", job}})), "no-job") << "gone at once for everybody";
  EXPECT_EQ(other.call("job.status", {{"job", stays}}).value("job", ""), stays);
  EXPECT_FALSE(submit(other, push(other, {{"third.py", "3"}})).empty());
  m_disk.release();
  EXPECT_EQ(json_at(deleter.receive(), "result"), json::object());
  EXPECT_FALSE(std::filesystem::exists(state() / "jobs" / job));
  for (const auto& each : std::filesystem::directory_iterator(state() / "jobs"))
    EXPECT_FALSE(each.path().filename().string().starts_with(".")) << each.path();
}

TEST_F(ServerTest, FilesThatCannotBeDeletedAreReportedForTheirOwnJobOnly) {
  start();
  Caller client = caller();
  const std::string job = submit(client, push(client, k_large));
  const std::string other = submit(client, push(client, k_other));
  m_disk.refuse("remove .discarded-" + job);
  EXPECT_EQ(code_of(client.call("job.forget", {{"job", job}})), "io");
  EXPECT_EQ(code_of(client.call("job.status", {{"job", job}})), "no-job");
  EXPECT_EQ(client.call("job.forget", {{"job", other}}), json::object()) << "another job's trouble";
  m_disk.refuse("");
  const std::string third = submit(client, push(client, k_other));
  EXPECT_EQ(client.call("job.forget", {{"job", third}}), json::object());
  for (const auto& each : std::filesystem::directory_iterator(state() / "jobs"))
    ADD_FAILURE() << "the next sweep was to delete it: " << each.path();
}

TEST_F(ServerTest, TheSameSubmitKeyGivesTheSameJobAlsoWhenItsSnapshotHasGone) {
  start();
  JobSpec spec;
  std::string job;
  {
    Caller first = caller();
    spec = spec_of(push(first, k_large));
    spec.submit_key = std::string(32, 'c');
    first.request("job.submit", {{"spec", to_json(spec)}}); // and the answer is never read
    Caller second = caller();
    job = second.call("job.submit", {{"spec", to_json(spec)}}).value("job", "");
    EXPECT_TRUE(is_job_id(job));
    EXPECT_EQ(second.call("job.submit", {{"spec", to_json(spec)}}).value("job", ""), job);
    EXPECT_EQ(json_at(json_at(first.receive(), "result"), "job"), job);
  }
  Caller third = caller();
  EXPECT_EQ(third.call("job.list").at("jobs").size(), 1u);
  ASSERT_TRUE(m_disk.remove_tree(state() / "snapshots" / spec.snapshot.hex()));
  EXPECT_EQ(third.call("job.submit", {{"spec", to_json(spec)}}).value("job", ""), job);
  spec.project = "another";
  EXPECT_EQ(code_of(third.call("job.submit", {{"spec", to_json(spec)}})), "remote-refused");
}

TEST_F(ServerTest, AClientThatFallsSilentIsGivenUp) {
  ServerTimes times;
  times.line.idle = std::chrono::milliseconds(300);
  start(times);
  Caller silent = caller();
  EXPECT_TRUE(silent.hung_up());
  Caller lively = caller();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(lively.call("ping"), json::object());
}

TEST_F(ServerTest, AClientThatNeverSaysHelloIsGivenUpSooner) {
  ServerTimes times;
  times.line.stall = std::chrono::milliseconds(300); // idle stays at its quarter of an hour
  start(times);
  Caller mute = caller(Caller::Greet::no);
  EXPECT_TRUE(mute.hung_up());
}

TEST_F(ServerTest, ClientsThatHangOnForNothingDoNotKeepANewOneOut) {
  start();
  std::vector<Caller> idle;
  for (int i = 0; i < 64; ++i)
    idle.push_back(caller());
  Caller late = caller();
  EXPECT_EQ(late.call("ping"), json::object());
  EXPECT_TRUE(idle.front().hung_up()) << "the one that has been silent for the longest time";
  EXPECT_EQ(idle.back().call("ping"), json::object());
}

TEST_F(ServerTest, ManifestsHaveALimitAloneAndTogether) {
  start();
  const auto announce = [](Caller& by, std::uint64_t size) { by.request("snapshot.offer", {{"manifest_digest", std::string(64, 'a')}, {"size_bytes", size}, {"parts", 2}}); };
  constexpr std::uint64_t most = std::uint64_t{128} << 20;
  Caller greedy = caller();
  announce(greedy, most + 1);
  EXPECT_EQ(code_of(greedy.receive()), "remote-refused");
  std::vector<Caller> two;
  for (int i = 0; i < 2; ++i) {
    two.push_back(caller());
    announce(two.back(), most);
  }
  // Answered only after both announcements: each client's frame is read before a later one is answered, or it is asked again.
  std::string refused;
  for (int i = 0; i < 1000 && refused != "remote-refused"; ++i) {
    Caller third = caller();
    announce(third, 1000);
    third.send_frame(FrameType::data, "x"); // where the manifest is due
    refused = code_of(third.receive());
  }
  EXPECT_EQ(refused, "remote-refused");
  two.clear(); // the clients go, and their share with them
  Caller after = caller();
  for (int i = 0; i < 1000 && !after.offer(manifest_of(k_other, k_chunk_bytes)).contains("result"); ++i)
    after = caller();
  EXPECT_FALSE(push(after, k_other).hex().empty());
}

TEST_F(ServerTest, AFullDiskDuringAPushLeavesNoSnapshotAndSaysSo) {
  start();
  const Manifest manifest = manifest_of(k_large, k_chunk_bytes);
  const std::string name = manifest.digest().hex();
  bool built = false;
  for (std::size_t at = 1; at < 100 && !built; ++at) {
    SCOPED_TRACE("full at change " + std::to_string(at));
    Caller client = caller();
    m_disk.fail_at(at, FailingDisk::Then::stays_dead);
    json answer = client.offer(manifest);
    if (answer.contains("result"))
      answer = client.put(k_large);
    if (answer.contains("result")) {
      client.request("snapshot.commit", {{"manifest_digest", name}});
      answer = client.receive();
    }
    built = answer.contains("result");
    m_disk.fail_at(0, FailingDisk::Then::recovers);
    if (built)
      break;
    EXPECT_EQ(code_of(answer), "disk-full") << answer.dump();
    EXPECT_FALSE(json_text(json_at(answer, "error"), "message").empty());
    EXPECT_FALSE(std::filesystem::exists(state() / "snapshots" / name));
    EXPECT_EQ(code_of(caller().call("job.submit", {{"spec", to_json(spec_of(manifest.digest()))}})), "remote-refused");
  }
  EXPECT_TRUE(built);
}

TEST_F(ServerTest, ADiskThatIsNearlyFullTakesNoMoreAndIsUsedAgainLater) {
  m_disk.set_free(std::uint64_t{63} << 20);
  start();
  {
    Caller client = caller();
    ASSERT_TRUE(client.offer(manifest_of(k_large, k_chunk_bytes)).contains("result"));
    const json answer = client.put(k_large);
    EXPECT_EQ(code_of(answer), "disk-full") << answer.dump();
    EXPECT_NE(json_text(json_at(answer, "error"), "message").find("kept free"), std::string::npos);
  }
  for (const auto& each : std::filesystem::recursive_directory_iterator(state() / "blobs"))
    EXPECT_FALSE(each.is_regular_file()) << each.path();
  m_disk.set_free(std::nullopt);
  Caller client = caller();
  EXPECT_FALSE(push(client, k_large).hex().empty());
}

TEST_F(ServerTest, AnAnswerThatNoFrameHoldsBecomesAnErrorAndNotABrokenLine) {
  start();
  const std::string text(1990, 'r');
  JobRecord record;
  record.state = JobState::failed;
  record.reason = text;
  record.network = "none";
  for (int i = 0; i < 64; ++i)
    record.steps.push_back(StepRecord{"s" + std::to_string(i), "harness", "done", 0, std::nullopt, std::string(200, 'x'), 0, 0, 0, 0, 0});
  for (int i = 0; i < 300; ++i)
    record.environment_removed[std::to_string(i) + std::string(100, 'n')] = std::string(900, 'v');
  for (int i = 0; i < 120; ++i) {
    record.job = new_job_id();
    test::write_file(state() / "jobs" / record.job / "record.json", to_json(record).dump());
  }
  Caller client = caller();
  EXPECT_EQ(code_of(client.call("job.list")), "remote-refused");
  EXPECT_EQ(client.call("job.status", {{"job", record.job}}).value("job", ""), record.job);
}

TEST_F(ServerTest, ALongRequestIsTakenApartAndATooLongOneIsNot) {
  start();
  json names = json::array();
  for (int i = 0; i < 10'000; ++i)
    names.push_back("outputs/" + std::string(200, 'n') + std::to_string(i));
  Caller client = caller();
  const std::string job = submit(client, push(client, k_other));
  EXPECT_EQ(client.call("job.stat", {{"job", job}, {"names", names}}).at("files").size(), 10'000u);
  client.send_frame(FrameType::control, std::string(std::size_t{17} << 20, ' '));
  EXPECT_TRUE(client.hung_up());
}
} // namespace
} // namespace remotemac::daemon
