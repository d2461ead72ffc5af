#pragma once
// The worker's document (docs/evidence.md, "Worker document"). Pure, but for writing it to disk.
#include "daemon/worker/group.h"
#include "daemon/worker/recording.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::worker {

struct ReplayEntry {
  std::size_t index = 0;
  std::string operation;
  std::uint64_t calls = 0;
  Finding finding;
};

struct Document {
  std::string kind; // "battery", "replay"
  SessionFacts facts;
  std::string device;
  std::string profile;
  std::vector<GroupReport> groups;
  std::vector<ReplayEntry> replay;
};

[[nodiscard]] std::string to_text(const Document& document);
// Atomic. Error io.
[[nodiscard]] Result<void> write_document(const Document& document, const std::filesystem::path& file);
// True when something in it stands for trouble with the device.
[[nodiscard]] bool shows_trouble(const Document& document);

} // namespace remotemac::worker
