#include "sync/far_end.h"

#include "common/version.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
using nlohmann::json;

TEST(FarEnd, TextIsCleanedEverywhere) {
  const json dirty = {{"na\x1b[31mme", {"a\x07z", 1, {{"k", "tw\no"}}}}, {"long", std::string(100'000, 'x')}};
  const json clean = clean_json(dirty);
  EXPECT_EQ(clean.dump().find('\x1b'), std::string::npos);
  EXPECT_EQ(clean.dump().find("\\u0007"), std::string::npos);
  EXPECT_EQ(clean.dump().find("\\n"), std::string::npos);
  EXPECT_LE(clean["long"].get<std::string>().size(), 16400U);
}

TEST(FarEnd, AnErrorKeepsItsCodeMessageAndHint) {
  const Error error = error_from_far_end({{"code", 1}, {"message", "there is no job\x1b[2J j1"}, {"data", {{"code", "no-job"}, {"hint", "list them"}}}}, "mini1");
  EXPECT_EQ(error.code(), ErrorCode::no_job);
  EXPECT_EQ(error.message().find('\x1b'), std::string::npos);
  EXPECT_EQ(error.hint(), "list them");
  EXPECT_NE(error.chain().find("mini1"), std::string::npos);
}

TEST(FarEnd, CodesThatAreNotADaemonsBecomeRemoteRefused) {
  for (const char* code : {"host-key", "interrupted", "usage", "config", "refused", "authentication", "unreachable", "shell-noise", "no-host", "from-the-future", ""})
    EXPECT_EQ(error_from_far_end({{"message", "m"}, {"data", {{"code", code}}}}, "mini1").code(), ErrorCode::remote_refused) << code;
  EXPECT_EQ(error_from_far_end(json::array(), "mini1").code(), ErrorCode::remote_refused);
  EXPECT_EQ(error_from_far_end({{"message", 7}, {"data", "x"}}, "mini1").code(), ErrorCode::remote_refused);
  EXPECT_EQ(error_from_far_end({{"message", "m"}, {"data", {{"code", "disk-full"}}}}, "mini1").code(), ErrorCode::disk_full);
}

TEST(FarEnd, AMismatchNamesBothRangesAndTheSideThatIsOld) {
  const Error unknown = protocol_mismatch(0, 0, "mini1");
  EXPECT_EQ(unknown.code(), ErrorCode::protocol_mismatch);
  EXPECT_FALSE(unknown.hint().empty());
  const Error old_client = protocol_mismatch(k_protocol_max + 1, k_protocol_max + 3, "mini1");
  EXPECT_NE(old_client.hint().find("this program is older"), std::string::npos);
  EXPECT_NE(old_client.message().find(std::to_string(k_protocol_max + 1) + " to " + std::to_string(k_protocol_max + 3)), std::string::npos);
}

} // namespace
} // namespace remotemac::sync
