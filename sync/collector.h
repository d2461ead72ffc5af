#pragma once
// Brings named files of a job back. Only names that the caller gives are asked for and accepted; sizes and digests are fixed by job.stat
// before the first byte and checked at the end; everything is written to a fresh quarantine folder (0700) first, and moved into place only
// when all of it is good. No symlink is followed, no mode, owner or name of the far end is taken over (files become 0600).
// After an error nothing is left behind: neither quarantine nor a part of the files.
#include "sync/remote_client.h"

#include <filesystem>
#include <functional>
#include <map>

namespace remotemac::sync {

struct CollectOptions {
  std::uint64_t max_file_bytes = std::uint64_t{16} << 30;
  std::uint64_t max_total_bytes = std::uint64_t{64} << 30;
  std::uint64_t keep_free_bytes = std::uint64_t{256} << 20; // of the local disk, after everything has arrived
  // Bytes; false = stop (error interrupted).
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

struct CollectReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::map<std::string, Digest> digests;      // of what arrived
  std::map<std::string, std::string> missing; // name -> the host's reason
};

// `into` must exist; names become paths below it, missing folders are made (0700), existing files are replaced.
// Errors: usage (a bad name), protocol (sizes, digests or names that do not fit), disk_full, io, interrupted, refused (over a cap), and
// those of RemoteClient.
[[nodiscard]] Result<CollectReport> collect(RemoteClient& client, const std::string& job, const std::vector<std::string>& names,
                                            const std::filesystem::path& into, const CollectOptions& options);

// Hands a log stream to `sink` from `offset` on, each byte exactly once, until the stream has ended. `offset` is always what was handed
// over, also after an error: reconnect and call again with it. `sink` is also called with no bytes now and then, and returns false to stop
// (error interrupted; the bytes of that call count as taken).
using LogSink = std::function<bool(std::span<const std::uint8_t> bytes)>;
[[nodiscard]] Result<void> follow_log(RemoteClient& client, const std::string& job, const std::string& stream, std::uint64_t& offset, const LogSink& sink);

} // namespace remotemac::sync
