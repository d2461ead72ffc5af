#pragma once
// Reading what jobs leave: log streams by offset, outputs and evidence by name. Stateless and safe from any thread; never follows a
// link, never opens anything but a regular file, never a name that the job folder does not offer.
#include "daemon/job_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace remotemac::daemon {

struct LogSlice {
  std::uint64_t offset = 0;
  std::string bytes;
  bool end = false; // nothing will ever follow
};

// Error usage for a stream that the job does not have.
[[nodiscard]] Result<LogSlice> read_log(FileSystem& disk, const JobStore& jobs, const std::string& job, const std::string& stream, std::uint64_t offset, std::size_t max_bytes);

struct FileFacts {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::string sha256;
  std::string missing; // why there is nothing to fetch; "" when there is
};

// One answer for each name, in the order asked. Hashes whole files.
[[nodiscard]] Result<std::vector<FileFacts>> stat_files(const JobStore& jobs, const std::string& job, const std::vector<std::string>& names);

struct FileSlice {
  std::string bytes;
  bool end = false;
};
[[nodiscard]] Result<FileSlice> fetch_file(const JobStore& jobs, const std::string& job, const std::string& name, std::uint64_t offset, std::size_t max_bytes);

} // namespace remotemac::daemon
