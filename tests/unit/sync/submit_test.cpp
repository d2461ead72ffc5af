// A lost answer to job.submit: the same job, once.
#include "sync/submit.h"

#include "common/json.h"
#include "tests/unit/sync/client_fixture.h"

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
using nlohmann::json;
using test::ScriptedServer;
using test::ServerSide;

constexpr SubmitTimes k_quick{4, std::chrono::milliseconds(1)};

// What the far end does with the submission that it gets.
using OnSubmit = std::function<void(ServerSide& side, const json& request)>;

class Far {
public:
  Far(const std::vector<std::string>& features, const OnSubmit& on_submit)
      : m_server([this, features, on_submit](ServerSide& side) {
          side.ready(k_nonce);
          side.result(side.next_request(), {{"daemon_version", "0.1.0"}, {"protocol", 1}, {"features", features}});
          const json request = side.next_request();
          set_key(json_text(json_at(json_at(request, "params"), "spec"), "submit_key"));
          on_submit(side, request);
        }),
        m_client(std::move(open_client(m_server).value())) {}
  [[nodiscard]] RemoteClient& client() { return *m_client; }
  // Look when the client has its answer, or its error.
  [[nodiscard]] std::string key() const {
    const std::lock_guard lock(m_mutex);
    return m_key;
  }

private:
  void set_key(std::string key) {
    const std::lock_guard lock(m_mutex);
    m_key = std::move(key);
  }

  mutable std::mutex m_mutex; // the server's thread writes, the test reads
  std::string m_key;
  ScriptedServer m_server;
  std::unique_ptr<RemoteClient> m_client; // goes first
};

void hang_up(ServerSide&, const json&) {}
void accept_job(ServerSide& side, const json& request) {
  side.result(request, {{"job", k_job}});
  side.wait_for_the_end();
}

const std::vector<std::string> k_keys{"ping", "submit-key"};

TEST(SubmitOnce, ALostAnswerIsAskedForAgainUnderTheSameKey) {
  Far first(k_keys, hang_up);
  std::vector<std::unique_ptr<Far>> later;
  int reconnected = 0;
  const Reconnect reconnect = [&]() -> Result<RemoteClient*> {
    if (++reconnected == 1)
      return Error(ErrorCode::unreachable, "the network is not back yet");
    later.push_back(std::make_unique<Far>(k_keys, later.empty() ? OnSubmit(hang_up) : OnSubmit(accept_job)));
    return &later.back()->client();
  };
  const Result<std::string> job = submit_once(first.client(), JobSpec(), reconnect, k_quick);
  ASSERT_TRUE(job.has_value()) << job.error().chain();
  EXPECT_EQ(*job, k_job);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(first.key().size(), 32U);
  EXPECT_EQ(later[0]->key(), first.key());
  EXPECT_EQ(later[1]->key(), first.key());
}

TEST(SubmitOnce, EachJobHasAKeyOfItsOwn) {
  Far first(k_keys, accept_job);
  Far second(k_keys, accept_job);
  const Reconnect never = []() -> Result<RemoteClient*> { return Error(ErrorCode::internal, "not needed"); };
  ASSERT_TRUE(submit_once(first.client(), JobSpec(), never, k_quick).has_value());
  ASSERT_TRUE(submit_once(second.client(), JobSpec(), never, k_quick).has_value());
  EXPECT_NE(first.key(), second.key());
}

TEST(SubmitOnce, ADaemonThatKnowsNoKeysIsAskedOnceAndTheErrorSaysSo) {
  Far first({"job.submit"}, hang_up);
  int reconnected = 0;
  const Reconnect reconnect = [&]() -> Result<RemoteClient*> {
    ++reconnected;
    return Error(ErrorCode::unreachable, "");
  };
  const Result<std::string> job = submit_once(first.client(), JobSpec(), reconnect, k_quick);
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code(), ErrorCode::connection);
  EXPECT_NE(job.error().hint().find("may have been submitted"), std::string::npos) << job.error().hint();
  EXPECT_EQ(reconnected, 0) << "a second job could come of it";
}

TEST(SubmitOnce, WhatTheDaemonRefusesIsNotTriedAgain) {
  Far first(k_keys, [](ServerSide& side, const json& request) {
    side.error(request, "disk-full", "no space left", {});
    side.wait_for_the_end();
  });
  const Reconnect reconnect = []() -> Result<RemoteClient*> {
    ADD_FAILURE() << "a refusal is an answer";
    return Error(ErrorCode::internal, "");
  };
  EXPECT_EQ(submit_once(first.client(), JobSpec(), reconnect, k_quick).error().code(), ErrorCode::disk_full);
}

TEST(SubmitOnce, TheAttemptsEnd) {
  Far first(k_keys, hang_up);
  int reconnected = 0;
  const Reconnect reconnect = [&]() -> Result<RemoteClient*> {
    ++reconnected;
    return Error(ErrorCode::unreachable, "nothing listens there");
  };
  const Result<std::string> job = submit_once(first.client(), JobSpec(), reconnect, k_quick);
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(reconnected, k_quick.attempts - 1);
  EXPECT_NE(job.error().hint().find("may have been submitted"), std::string::npos);
}

} // namespace
} // namespace remotemac::sync
