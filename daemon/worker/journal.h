#pragma once
// What a child process does, written before it does it: the case in hand is on disk when the case brings the process, or the
// machine, down. One JSON object per line: {"session"}, {"begin", ...}, {"stage"}, {"end", ...}. One writer (the child), one reader
// (its parent, also while the child runs). A torn last line is normal and ignored.
#include "common/fd.h"
#include "common/result.h"
#include "daemon/worker/finding.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::worker {

// What the child runs on; its first line.
struct SessionFacts {
  std::string built_for;
  std::string running;
  bool simulated = false;
  std::string simulated_reason;
};

class JournalWriter {
public:
  [[nodiscard]] static Result<JournalWriter> open(const std::filesystem::path& file); // appends
  [[nodiscard]] Result<void> session(const SessionFacts& facts);
  // On disk (fsync) before it returns.
  [[nodiscard]] Result<void> begin(std::size_t index, const Finding& draft);
  // What the case is doing now: a deadline that passes while the CPU computes the reference says nothing about the device.
  [[nodiscard]] Result<void> stage(std::string_view name);
  [[nodiscard]] Result<void> end(std::size_t index, const Finding& finding);

private:
  explicit JournalWriter(UniqueFd fd) : m_fd(std::move(fd)) {}
  enum class Sync { no, yes };
  [[nodiscard]] Result<void> write_line(const std::string& line, Sync sync);
  UniqueFd m_fd;
};

struct JournalEntry {
  std::size_t index = 0;
  Finding finding; // the draft while `ended` is false
  std::string stage;
  bool ended = false;
};

struct Journal {
  std::optional<SessionFacts> session;
  std::vector<JournalEntry> entries; // in the order of beginning
  // The case that was begun and not ended, if any: the last one.
  [[nodiscard]] const JournalEntry* in_flight() const { return entries.empty() || entries.back().ended ? nullptr : &entries.back(); }
};

[[nodiscard]] Journal parse_journal(std::string_view text);
[[nodiscard]] Result<Journal> read_journal(const std::filesystem::path& file); // a missing file is an empty journal

} // namespace remotemac::worker
