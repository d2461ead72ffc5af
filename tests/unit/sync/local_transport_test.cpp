#include "sync/local_transport.h"

#include <gtest/gtest.h>

namespace remotemac::sync {
namespace {

Deadline soon() { return Deadline(std::chrono::seconds(20)); }

TEST(LocalTransport, RunsACommand) {
  LocalTransport transport;
  const Result<ProcessResult> result = transport.run("cat; echo oops >&2; exit 7", "hello", soon(), 1000);
  ASSERT_TRUE(result.has_value()) << result.error().chain();
  EXPECT_EQ(result->out, "hello");
  EXPECT_EQ(result->err, "oops\n");
  EXPECT_EQ(result->exit_code, 7);
}

TEST(LocalTransport, GivesAStreamBothWays) {
  LocalTransport transport;
  const auto stream = transport.exec("tr a-z A-Z", soon());
  ASSERT_TRUE(stream.has_value()) << stream.error().chain();
  const std::string text = "abc\n";
  ASSERT_TRUE((*stream)->write_all({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, soon()).has_value());
  (*stream)->close();
}

TEST(LocalTransport, ACommandThatTakesTooLongIsStopped) {
  LocalTransport transport;
  const Result<ProcessResult> result = transport.run("sleep 30", "", Deadline(std::chrono::milliseconds(100)), 1000);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::deadline);
  EXPECT_FALSE(transport.exec("true", Deadline(std::chrono::milliseconds(0))).has_value());
}

} // namespace
} // namespace remotemac::sync
