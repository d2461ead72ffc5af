#pragma once
// The worker's command line. One table of flags; usage text derives from it.
#include "common/result.h"
#include "daemon/worker/group.h"
#include "daemon/worker/probe.h"

#include <filesystem>
#include <string>
#include <vector>

namespace remotemac::worker {

struct Options {
  enum class Command { help, version, battery, replay, child };
  Command command = Command::help;
  std::string group; // child: name of a probe group, or "replay"
  std::string device = "mps";
  Profile profile = Profile::standard;
  std::string profile_name = "standard";
  std::filesystem::path out;
  std::filesystem::path recording;
  std::filesystem::path journal; // child
  std::filesystem::path select;  // child of a replay: file with the indices, one a line
  std::size_t skip = 0;          // child: cases that were begun before
  std::vector<std::string> preload;
  Limits limits;
};

// Error usage, with the nearest known flag.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& arguments);
[[nodiscard]] std::string usage();

} // namespace remotemac::worker
