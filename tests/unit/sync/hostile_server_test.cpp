// Far ends that lie, stall, flood or hang up. Each must end in an error of a fixed kind, soon, and with little memory taken.
#include "tests/unit/sync/client_fixture.h"

#include "common/json.h"

#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace remotemac::sync {
namespace {
using nlohmann::json;
using test::ScriptedServer;
using test::ServerSide;

ClientOptions impatient() {
  ClientOptions options = quick_options();
  options.start_timeout = std::chrono::milliseconds(300);
  options.request_timeout = std::chrono::milliseconds(300);
  options.stall_timeout = std::chrono::milliseconds(300);
  return options;
}

Error start_error(const ScriptedServer::Script& script, const ClientOptions& options = quick_options()) {
  ScriptedServer server(script);
  const auto client = open_client(server, options);
  if (client)
    ADD_FAILURE() << "the client was content";
  return client ? Error(ErrorCode::internal, "") : client.error();
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// ---- before the protocol

TEST(HostileStart, TenMegabytesOfNoise) {
  const Error error = start_error([](ServerSide& side) {
    side.send_bytes("\x1b]0;title\x07Last login: never\n");
    for (int i = 0; i < 160; ++i)
      side.send_bytes(std::string(65536, 'n'));
  });
  EXPECT_EQ(error.code(), ErrorCode::shell_noise) << error.chain();
  EXPECT_NE(error.message().find("Last login"), std::string::npos);
  EXPECT_EQ(error.message().find('\x1b'), std::string::npos);
}

TEST(HostileStart, TheReadyLineBehindTooMuchNoiseComesTooLate) {
  const Error error = start_error([](ServerSide& side) {
    side.send_bytes(std::string(70'000, 'n') + "\n");
    side.ready(k_nonce);
    side.wait_for_the_end();
  });
  EXPECT_EQ(error.code(), ErrorCode::shell_noise) << error.chain();
}

TEST(HostileStart, Silence) {
  const Error error = start_error([](ServerSide& side) { side.wait_for_the_end(); }, impatient());
  EXPECT_EQ(error.code(), ErrorCode::deadline) << error.chain();
}

TEST(HostileStart, ADripOfNoiseDoesNotMoveTheDeadline) {
  const Deadline limit(std::chrono::seconds(10));
  const Error error = start_error(
      [&](ServerSide& side) {
        while (!limit.passed() && side.write_one('.')) {
        }
      },
      impatient());
  EXPECT_TRUE(error.code() == ErrorCode::deadline || error.code() == ErrorCode::shell_noise) << error.chain();
  EXPECT_FALSE(limit.passed());
}

TEST(HostileStart, AnotherNonce) {
  const Error error = start_error([](ServerSide& side) { side.ready(std::string(32, 'f')); });
  EXPECT_EQ(error.code(), ErrorCode::setup) << error.chain();
}

TEST(HostileStart, NotInstalled) {
  const Error error = start_error([](ServerSide& side) { side.send_bytes("sh: 1: /far/remotemacd: not found\n"); });
  EXPECT_EQ(error.code(), ErrorCode::setup);
  EXPECT_NE(error.message().find("not found"), std::string::npos) << error.chain();
  EXPECT_NE(error.hint().find("remotemac host add"), std::string::npos);
}

TEST(HostileStart, OfAnotherMachineType) {
  const Error error = start_error([](ServerSide& side) { side.send_bytes("sh: cannot execute binary file: Exec format error\n"); });
  EXPECT_EQ(error.code(), ErrorCode::setup);
  EXPECT_NE(error.hint().find("machine type"), std::string::npos) << error.chain();
}

TEST(HostileStart, VersionsWithoutACommonOne) {
  const auto mismatch = [](int low, int high) {
    return start_error([=](ServerSide& side) {
      side.ready(k_nonce);
      side.error(side.next_request(), "protocol-mismatch", "no common version", {{"protocol_min", low}, {"protocol_max", high}});
      side.wait_for_the_end();
    });
  };
  const Error newer = mismatch(7, 9);
  EXPECT_EQ(newer.code(), ErrorCode::protocol_mismatch);
  EXPECT_NE(newer.message().find("7 to 9"), std::string::npos) << newer.chain();
  EXPECT_NE(newer.hint().find("this program"), std::string::npos);
  const Error older = mismatch(0, 0);
  EXPECT_EQ(older.code(), ErrorCode::protocol_mismatch);
}

TEST(HostileStart, AVersionThatWasNotOffered) {
  const Error error = start_error([](ServerSide& side) {
    side.ready(k_nonce);
    side.result(side.next_request(), {{"daemon_version", "9"}, {"protocol", 99}});
    side.wait_for_the_end();
  });
  EXPECT_EQ(error.code(), ErrorCode::protocol_mismatch) << error.chain();
}

// ---- frames

struct FrameLie {
  const char* name;
  std::string bytes;
};

class HostileFrame : public testing::TestWithParam<FrameLie> {};
INSTANTIATE_TEST_SUITE_P(
    Lies, HostileFrame,
    testing::Values(FrameLie{"UnknownType", std::string("\0\0\0\2\x09x", 6)}, FrameLie{"TypeZero", std::string("\0\0\0\2\0x", 6)},
                    FrameLie{"LengthZero", std::string("\0\0\0\0\1", 5)}, FrameLie{"FourGigabytes", std::string("\xff\xff\xff\xff\1", 5)},
                    FrameLie{"JustOverTheCap", std::string("\2\0\0\1\1", 5)}, FrameLie{"DataOverItsCap", std::string("\0\x20\0\0\4", 5)},
                    FrameLie{"NotJson", std::string("\0\0\0\4\1abc", 8)}, FrameLie{"NotAnObject", std::string("\0\0\0\3\1[]", 7)},
                    FrameLie{"DataWhereAnAnswerIsDue", std::string("\0\0\0\2\4x", 6)}, FrameLie{"PackWhereAnAnswerIsDue", std::string("\0\0\0\2\2x", 6)},
                    FrameLie{"ManifestWhereAnAnswerIsDue", std::string("\0\0\0\2\3x", 6)}, FrameLie{"BrokenUtf8", std::string("\0\0\0\7\1{\"\xff\":1", 11)}),
    [](const auto& each) { return each.param.name; });

TEST_P(HostileFrame, EndsTheConnectionAsAProtocolError) {
  Connected far([](ServerSide& side) {
    static_cast<void>(side.next_request());
    side.send_bytes(GetParam().bytes);
    side.wait_for_the_end();
  });
  const auto answer = far.client->host_facts();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code(), ErrorCode::protocol) << answer.error().chain();
  EXPECT_EQ(far.client->host_facts().error().code(), ErrorCode::protocol) << "and stays ended";
}

TEST(HostileFrames, AnEndInTheMiddle) {
  for (const std::size_t size : {1U, 4U, 5U, 9U}) {
    Connected far([=](ServerSide& side) {
      static_cast<void>(side.next_request());
      side.send_bytes(std::string("\0\0\0\x20\1{\"jsonrp", 13).substr(0, size));
    });
    const auto answer = far.client->host_facts();
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code(), ErrorCode::connection) << answer.error().chain();
  }
}

TEST(HostileFrames, AnAnnouncementOf32MegabytesTakesNoMemoryAndEndsAtTheStallLimit) {
  const long before = peak_kib();
  Connected far(
      [](ServerSide& side) {
        static_cast<void>(side.next_request());
        side.send_bytes(std::string("\x02\0\0\0\1{", 6));
        side.wait_for_the_end();
      },
      impatient());
  const auto answer = far.client->host_facts();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code(), ErrorCode::deadline) << answer.error().chain();
  EXPECT_LT(peak_kib() - before, 8 * 1024) << "memory was taken for bytes that never came";
}

TEST(HostileFrames, ADeeplyNestedAnswer) {
  Connected far([](ServerSide& side) {
    static_cast<void>(side.next_request());
    side.send_frame(FrameType::control, std::string(1 << 20, '['));
    side.wait_for_the_end();
  });
  EXPECT_EQ(far.client->host_facts().error().code(), ErrorCode::protocol);
}

TEST(HostileFrames, AStallBeforeTheAnswer) {
  Connected far([](ServerSide& side) { side.wait_for_the_end(); }, impatient());
  EXPECT_EQ(far.client->list().error().code(), ErrorCode::deadline);
}

TEST(HostileFrames, AFloodThatNobodyAskedForIsNotRead) {
  Connected far([](ServerSide& side) {
    for (int i = 0; i < 64; ++i)
      side.send_frame(FrameType::data, std::string(1 << 20, 'x'));
  });
  EXPECT_EQ(far.client->host_facts().error().code(), ErrorCode::protocol);
}

// ---- answers

class HostileAnswer : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Lies, HostileAnswer,
                         testing::Values(std::pair{"WrongId", R"({"jsonrpc":"2.0","id":77,"result":{}})"}, std::pair{"NoId", R"({"jsonrpc":"2.0","result":{}})"},
                                         std::pair{"WrongVersion", R"({"jsonrpc":"1.0","id":2,"result":{}})"},
                                         std::pair{"BothResultAndError", R"({"jsonrpc":"2.0","id":2,"result":{},"error":{}})"},
                                         std::pair{"Neither", R"({"jsonrpc":"2.0","id":2})"}, std::pair{"ResultIsNoObject", R"({"jsonrpc":"2.0","id":2,"result":[1]})"},
                                         std::pair{"IsARequest", R"({"jsonrpc":"2.0","id":2,"method":"read","params":{"path":"/etc/passwd"}})"}),
                         [](const auto& each) { return each.param.first; });

TEST_P(HostileAnswer, IsAProtocolError) {
  Connected far([](ServerSide& side) {
    static_cast<void>(side.next_request());
    side.send_frame(FrameType::control, GetParam().second);
    side.wait_for_the_end();
  });
  const auto answer = far.client->host_facts();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code(), ErrorCode::protocol) << answer.error().chain();
}

TEST(HostileAnswers, ASecondAnswerIsNotTakenForTheNextOne) {
  Connected far([](ServerSide& side) {
    const json request = side.next_request();
    side.result(request, {{"a", 1}});
    side.result(request, {{"state", "succeeded"}});
    side.wait_for_the_end();
  });
  EXPECT_TRUE(far.client->host_facts().has_value());
  EXPECT_EQ(far.client->cancel(k_job).error().code(), ErrorCode::protocol);
}

TEST(HostileAnswers, AnErrorTextCannotReachATerminal) {
  Connected far([](ServerSide& side) {
    side.error(side.next_request(), "host-key", "\x1b]52;c;ZXZpbA==\x07\r\nerror: all is well\xe2\x80\xae", {{"hint", "\x1b[2Jpress enter"}});
    side.wait_for_the_end();
  });
  const Error error = far.client->host_facts().error();
  EXPECT_EQ(error.code(), ErrorCode::remote_refused);
  for (const std::string& text : {error.chain(), error.message(), error.hint()}) {
    for (const char* bad : {"\x1b", "\x07", "\r", "\n", "\xe2\x80\xae"})
      EXPECT_EQ(text.find(bad), std::string::npos) << text;
  }
}

// One request, one answer, then maybe a data frame: which calls on the client must fail with `protocol`.
Error answer_with(const json& result, const std::string& data, const std::function<Error(RemoteClient&)>& ask) {
  Connected far([=](ServerSide& side) {
    side.result(side.next_request(), result);
    if (!data.empty())
      side.send_frame(FrameType::data, data);
    side.wait_for_the_end();
  });
  return ask(*far.client);
}

template <typename T> Error error_of(const Result<T>& result) { return result ? Error(ErrorCode::internal, "it was content") : result.error(); }

TEST(HostileAnswers, AJobIdThatIsNone) {
  for (const char* id : {"../../etc/passwd", "", "j", "jABCDEFGHIJKL", "jabcdefghijkl/..", "jabcdefghijklm"})
    EXPECT_EQ(answer_with({{"job", id}}, "", [](RemoteClient& client) { return error_of(client.submit(JobSpec())); }).code(), ErrorCode::protocol) << id;
}

TEST(HostileAnswers, LogsFromElsewhereOrTooLong) {
  const auto log = [](RemoteClient& client) { return error_of(client.log(k_job, "s.stdout", 100, 10, std::chrono::milliseconds(0))); };
  EXPECT_EQ(answer_with({{"offset", 0}, {"size_bytes", 1}, {"end", false}}, "x", log).code(), ErrorCode::protocol) << "another offset";
  EXPECT_EQ(answer_with({{"offset", 100}, {"size_bytes", 11}, {"end", false}}, "12345678901", log).code(), ErrorCode::protocol) << "more than asked";
  EXPECT_EQ(answer_with({{"offset", 100}, {"size_bytes", 5}, {"end", false}}, "1234", log).code(), ErrorCode::protocol) << "less than announced";
  EXPECT_EQ(answer_with({{"offset", 100}, {"size_bytes", -1}, {"end", false}}, "", log).code(), ErrorCode::protocol) << "negative";
  EXPECT_EQ(answer_with({{"offset", 100}, {"size_bytes", 0}}, "", log).code(), ErrorCode::protocol) << "no end";
  EXPECT_EQ(answer_with({{"size_bytes", 0}, {"end", false}}, "", log).code(), ErrorCode::protocol) << "no offset";
}

TEST(HostileAnswers, EventsOutOfOrder) {
  const auto events = [](RemoteClient& client) { return error_of(client.events(k_job, 3, std::chrono::milliseconds(0))); };
  EXPECT_EQ(answer_with({{"events", {{{"seq", 3}}}}, {"state", "running"}}, "", events).code(), ErrorCode::protocol) << "an old one";
  EXPECT_EQ(answer_with({{"events", {{{"seq", 5}}, {{"seq", 4}}}}, {"state", "running"}}, "", events).code(), ErrorCode::protocol);
  EXPECT_EQ(answer_with({{"events", json::array()}, {"state", "perfect"}}, "", events).code(), ErrorCode::protocol) << "an unknown state";
  EXPECT_EQ(answer_with({{"events", 7}, {"state", "running"}}, "", events).code(), ErrorCode::protocol);
}

TEST(HostileAnswers, FilesThatWereNotAskedFor) {
  const std::string digest = sha256(std::string_view("x")).hex();
  const auto stat = [](RemoteClient& client) { return error_of(client.stat(k_job, {*RelPath::create("outputs/a")})); };
  const auto files = [&](const json& list) { return answer_with({{"files", list}}, "", stat).code(); };
  EXPECT_EQ(files({{{"name", "outputs/b"}, {"size_bytes", 1}, {"sha256", digest}}}), ErrorCode::protocol);
  EXPECT_EQ(files({{{"name", "../.bashrc"}, {"size_bytes", 1}, {"sha256", digest}}}), ErrorCode::protocol);
  EXPECT_EQ(files({{{"name", "outputs/a"}, {"size_bytes", 1}, {"sha256", digest}}, {{"name", "outputs/a"}, {"size_bytes", 1}, {"sha256", digest}}}), ErrorCode::protocol);
  EXPECT_EQ(files(json::array()), ErrorCode::protocol);
  EXPECT_EQ(files({{{"name", "outputs/a"}, {"size_bytes", -1}, {"sha256", digest}}}), ErrorCode::protocol);
  EXPECT_EQ(files({{{"name", "outputs/a"}, {"size_bytes", 1}, {"sha256", "x"}}}), ErrorCode::protocol);
  EXPECT_EQ(files({{{"name", "outputs/a"}, {"size_bytes", 1.5}, {"sha256", digest}}}), ErrorCode::protocol);
}

TEST(HostileAnswers, TheRecordOfAnotherJob) {
  JobRecord other;
  other.job = "jmnopqrstuvwx";
  other.snapshot = sha256(std::string_view("x")).hex();
  EXPECT_EQ(answer_with(to_json(other), "", [](RemoteClient& client) { return error_of(client.status(k_job)); }).code(), ErrorCode::protocol);
  EXPECT_EQ(answer_with({{"jobs", {{{"job", "../x"}}}}}, "", [](RemoteClient& client) { return error_of(client.list()); }).code(), ErrorCode::protocol);
}

} // namespace
} // namespace remotemac::sync
