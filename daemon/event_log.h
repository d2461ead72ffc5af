#pragma once
// events.jsonl of a job: one JSON object a line, numbered from 1 without gaps. Appends are flushed. A line torn by a crash or a full
// disk is skipped by readers and ended by the next append. One writer at a time (the daemon before and after, the shim while it lives).
#include "common/clock.h"
#include "common/file_system.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace remotemac::daemon {

class EventLog {
public:
  [[nodiscard]] static Result<EventLog> open(FileSystem& disk, const Clock& clock, const std::filesystem::path& file);
  // `fields` is an object whose members are added to seq, time and event.
  [[nodiscard]] Result<void> append(std::string_view event, const nlohmann::json& fields);

private:
  EventLog(FileSystem& disk, const Clock& clock, std::filesystem::path file, std::int64_t last, bool torn)
      : m_disk(&disk), m_clock(&clock), m_file(std::move(file)), m_last(last), m_torn(torn) {}
  FileSystem* m_disk;
  const Clock* m_clock;
  std::filesystem::path m_file;
  std::int64_t m_last;
  bool m_torn; // the file does not end with a line feed
};

// The events with seq > after, in order. A missing file has none.
[[nodiscard]] Result<std::vector<nlohmann::json>> read_events(FileSystem& disk, const std::filesystem::path& file, std::int64_t after);

} // namespace remotemac::daemon
