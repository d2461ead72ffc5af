// The client against a well-behaved far end: what it sends and what it makes of the answers.
#include "tests/unit/sync/client_fixture.h"

#include "common/json.h"

#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
using nlohmann::json;
using test::ScriptedServer;
using test::ServerSide;

json job_record(const std::string& job) {
  JobRecord record;
  record.job = job;
  record.project = "demo";
  record.snapshot = sha256(std::string_view("x")).hex();
  record.state = JobState::running;
  record.submitted = "2026-12-01T01:02:03.456Z";
  return to_json(record);
}

JobSpec small_spec() {
  JobSpec spec;
  spec.project = "demo";
  spec.snapshot = sha256(std::string_view("x"));
  JobStep step;
  step.name = "strict";
  step.mode = "mini-run";
  step.device = "mps";
  step.fallback = "strict";
  step.argv = {"python", "train.py"};
  spec.steps.push_back(step);
  return spec;
}

// One request of the given method arrives with the given params, and is answered with `result`.
ScriptedServer::Script answers(const std::string& method, json* params, const json& result, const std::string& data = "") {
  return [=](ServerSide& side) {
    const json request = side.next_request();
    if (json_text(request, "method") != method || json_text(request, "jsonrpc") != "2.0")
      return;
    if (params != nullptr)
      *params = request["params"];
    side.result(request, result);
    if (!data.empty())
      side.send_frame(FrameType::data, data);
    side.wait_for_the_end();
  };
}

TEST(RemoteClient, StartsBehindShellNoiseAndSaysHello) {
  json hello;
  ScriptedServer server([&](ServerSide& side) {
    side.send_bytes("Welcome!\nYou have mail.\x1b[0m no newline here: ");
    side.ready(k_nonce);
    hello = side.next_request();
    side.result(hello, {{"daemon_version", "0.1.0"}, {"protocol", 1}, {"features", {"a", 7, "b"}}, {"state_dir", "/far/state"}});
    side.wait_for_the_end();
  });
  const auto client = open_client(server);
  ASSERT_TRUE(client.has_value()) << client.error().chain();
  EXPECT_EQ((*client)->daemon().version, "0.1.0");
  EXPECT_EQ((*client)->daemon().protocol, 1);
  EXPECT_EQ((*client)->daemon().features, (std::vector<std::string>{"a", "b"}));
  EXPECT_GT((*client)->daemon().shell_noise_bytes, 40U);
  EXPECT_EQ(json_text(hello, "method"), "hello");
  EXPECT_EQ(json_int(json_at(hello, "params"), "protocol_min"), 1);
}

TEST(RemoteClient, FramesRightBehindTheFirstLineAreNotLost) {
  ScriptedServer server([](ServerSide& side) {
    const std::string answer = json({{"jsonrpc", "2.0"}, {"id", 1}, {"result", {{"protocol", 1}, {"daemon_version", "x"}}}}).dump();
    const std::vector<std::uint8_t> frame = encode_frame(FrameType::control, {reinterpret_cast<const std::uint8_t*>(answer.data()), answer.size()});
    side.send_bytes("noise\nREMOTEMAC-READY " + k_nonce + "\n" + std::string(frame.begin(), frame.end()));
    side.wait_for_the_end();
  });
  const auto client = open_client(server);
  EXPECT_TRUE(client.has_value()) << client.error().chain();
}

TEST(RemoteClient, SendsTheJobAndGivesItsId) {
  json params;
  Connected far(answers("job.submit", &params, {{"job", k_job}}));
  const Result<std::string> job = far.client->submit(small_spec());
  ASSERT_TRUE(job.has_value()) << job.error().chain();
  EXPECT_EQ(*job, k_job);
  EXPECT_TRUE(job_spec_from_json(params["spec"]).has_value());
}

TEST(RemoteClient, ListsAndDescribesJobs) {
  Connected far([](ServerSide& side) {
    side.result(side.next_request(), {{"jobs", {job_record(k_job), job_record("jmnopqrstuvwx")}}});
    side.result(side.next_request(), job_record(k_job));
    side.wait_for_the_end();
  });
  const auto jobs = far.client->list();
  ASSERT_TRUE(jobs.has_value()) << jobs.error().chain();
  EXPECT_EQ(jobs->size(), 2U);
  const auto record = far.client->status(k_job);
  ASSERT_TRUE(record.has_value()) << record.error().chain();
  EXPECT_EQ(record->state, JobState::running);
}

TEST(RemoteClient, GivesEventsWithThePlaceToGoOn) {
  json params;
  Connected far(answers("job.events", &params, {{"events", {{{"seq", 4}, {"event", "queued"}}, {{"seq", 5}, {"event", "preparing"}}}}, {"state", "preparing"}}));
  const auto events = far.client->events(k_job, 3, std::chrono::seconds(90));
  ASSERT_TRUE(events.has_value()) << events.error().chain();
  EXPECT_EQ(events->events.size(), 2U);
  EXPECT_EQ(events->last_seq, 5U);
  EXPECT_EQ(events->state, JobState::preparing);
  EXPECT_EQ(json_int(params, "wait_ms"), 20'000) << "the protocol's limit";
  EXPECT_EQ(json_int(params, "after"), 3);
}

TEST(RemoteClient, GivesLogBytesRaw) {
  json params;
  const std::string raw("\x1b[31m\0\xff", 7);
  Connected far(answers("job.log", &params, {{"offset", 10}, {"size_bytes", 7}, {"end", true}}, raw));
  const auto part = far.client->log(k_job, "strict.stdout", 10, std::size_t{8} << 20, std::chrono::milliseconds(0));
  ASSERT_TRUE(part.has_value()) << part.error().chain();
  EXPECT_EQ(std::string(part->bytes.begin(), part->bytes.end()), raw);
  EXPECT_TRUE(part->end);
  EXPECT_EQ(json_int(params, "max_bytes"), 1 << 20);
}

TEST(RemoteClient, TheOtherMessages) {
  Connected far([](ServerSide& side) {
    side.result(side.next_request(), {{"chip", "M\x1b[1m4"}});
    side.result(side.next_request(), {{"state", "cancelled"}});
    side.result(side.next_request(), json::object());
    side.result(side.next_request(), {{"files", {{{"name", "record.json"}, {"missing", "not\x07 there"}}, {{"name", "outputs/a/b"}, {"size_bytes", 5}, {"sha256", sha256(std::string_view("hello")).hex()}}}}});
    side.result(side.next_request(), {{"size_bytes", 5}, {"end", true}});
    side.send_frame(FrameType::data, "hello");
    side.result(side.next_request(), json::object());
    side.result(side.next_request(), json::object());
    side.wait_for_the_end();
  });
  const auto facts = far.client->host_facts();
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(json_text(*facts, "chip"), "M?[1m4");
  EXPECT_EQ(far.client->cancel(k_job).value_or(""), "cancelled");
  EXPECT_TRUE(far.client->forget(k_job).has_value());
  const std::vector<RelPath> names = {*RelPath::create("record.json"), *RelPath::create("outputs/a/b")};
  const auto files = far.client->stat(k_job, names);
  ASSERT_TRUE(files.has_value()) << files.error().chain();
  EXPECT_EQ((*files)[0].missing, "not? there");
  EXPECT_EQ((*files)[1].size_bytes, 5U);
  const auto part = far.client->fetch(k_job, names[1], 0, 100);
  ASSERT_TRUE(part.has_value()) << part.error().chain();
  EXPECT_EQ(std::string(part->bytes.begin(), part->bytes.end()), "hello");
  EXPECT_TRUE(far.client->ping().has_value());
  EXPECT_TRUE(far.client->stop().has_value());
}

TEST(RemoteClient, AnErrorOfTheDaemonLeavesTheConnectionUsable) {
  Connected far([](ServerSide& side) {
    side.error(side.next_request(), "no-job", "there is no such job", {});
    side.result(side.next_request(), {{"state", "running"}});
    side.wait_for_the_end();
  });
  const auto missing = far.client->status(k_job);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), ErrorCode::no_job);
  EXPECT_EQ(missing.error().hint(), "a hint");
  EXPECT_TRUE(far.client->cancel(k_job).has_value());
}

TEST(RemoteClient, AfterABrokenLineEveryCallGivesTheReason) {
  Connected far([](ServerSide&) {});
  const auto first = far.client->status(k_job);
  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().code(), ErrorCode::connection) << first.error().chain();
  const auto second = far.client->list();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::connection);
}

} // namespace
} // namespace remotemac::sync
