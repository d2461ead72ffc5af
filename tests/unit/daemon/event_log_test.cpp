#include "daemon/event_log.h"

#include "common/json.h"
#include "tests/unit/daemon/store_fixture.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
class EventLogTest : public StoreFixture {
protected:
  std::vector<std::int64_t> sequence(std::int64_t after = 0) {
    std::vector<std::int64_t> out;
    const auto events = read_events(m_disk, m_file, after);
    EXPECT_TRUE(events.has_value());
    for (const auto& each : *events)
      out.push_back(json_int(each, "seq"));
    return out;
  }
  std::filesystem::path m_file = m_dir / "events.jsonl";
};
using Numbers = std::vector<std::int64_t>;

TEST_F(EventLogTest, NumbersFromOneAndGoesOnAfterReopening) {
  EXPECT_EQ(sequence(), Numbers{});
  auto log = EventLog::open(m_disk, m_clock, m_file).value();
  ASSERT_TRUE(log.append("queued", nlohmann::json::object()));
  ASSERT_TRUE(log.append("limit", {{"step", "run"}, {"seq", 99}}));
  auto again = EventLog::open(m_disk, m_clock, m_file).value();
  ASSERT_TRUE(again.append("finished", nlohmann::json()));
  EXPECT_EQ(sequence(), (Numbers{1, 2, 3}));
  EXPECT_EQ(sequence(2), Numbers{3});
}

TEST_F(EventLogTest, ATornLineIsSkippedAndEnded) {
  auto log = EventLog::open(m_disk, m_clock, m_file).value();
  ASSERT_TRUE(log.append("queued", nlohmann::json::object()));
  m_disk.fail_at(1, FailingDisk::Then::recovers); // leaves half a line
  EXPECT_FALSE(log.append("preparing", nlohmann::json::object()).has_value());
  EXPECT_EQ(sequence(), Numbers{1});
  ASSERT_TRUE(log.append("preparing", nlohmann::json::object()));
  EXPECT_EQ(sequence(), (Numbers{1, 2}));
  test::write_file(m_file, test::read_file(m_file) + R"({"seq": 3, "ev)");
  auto again = EventLog::open(m_disk, m_clock, m_file).value();
  ASSERT_TRUE(again.append("finished", nlohmann::json::object()));
  EXPECT_EQ(sequence(), (Numbers{1, 2, 3}));
}
} // namespace
} // namespace remotemac::daemon
