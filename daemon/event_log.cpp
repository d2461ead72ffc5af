#include "daemon/event_log.h"

#include "common/json.h"
#include "common/text.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
constexpr std::size_t k_max_bytes = std::size_t{16} << 20;

Result<std::string> read_all(FileSystem& disk, const std::filesystem::path& file) {
  if (!disk.exists(file))
    return std::string();
  return disk.read_file(file, k_max_bytes);
}

std::vector<nlohmann::json> parse_lines(const std::string& text, std::int64_t after) {
  std::vector<nlohmann::json> out;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty())
      continue;
    Result<nlohmann::json> event = parse_json(line, "an event");
    if (event && event->is_object() && json_int(*event, "seq") > after)
      out.push_back(std::move(*event));
  }
  return out;
}
} // namespace

Result<EventLog> EventLog::open(FileSystem& disk, const Clock& clock, const std::filesystem::path& file) {
  RM_ASSIGN(const std::string text, read_all(disk, file));
  std::int64_t last = 0;
  for (const nlohmann::json& event : parse_lines(text, 0))
    last = std::max(last, json_int(event, "seq"));
  return EventLog(disk, clock, file, last, !text.empty() && text.back() != '\n');
}

Result<void> EventLog::append(std::string_view event, const nlohmann::json& fields) {
  nlohmann::json line = fields.is_object() ? fields : nlohmann::json::object();
  line["seq"] = m_last + 1;
  line["time"] = rfc3339(m_clock->now());
  line["event"] = event;
  const std::string text = (m_torn ? "\n" : "") + dump_json(line, -1) + "\n";
  const Result<void> written = m_disk->append_synced(m_file, text);
  m_torn = !written;
  if (!written)
    return Error(written.error()).while_trying("recording an event of the job");
  ++m_last;
  return ok();
}

Result<std::vector<nlohmann::json>> read_events(FileSystem& disk, const std::filesystem::path& file, std::int64_t after) {
  RM_ASSIGN(const std::string text, read_all(disk, file));
  return parse_lines(text, after);
}

} // namespace remotemac::daemon
