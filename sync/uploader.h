#pragma once
// Sends a project to a host: what the gate approved and nothing else. Takes an ApprovedSet, which only the gate can make; each chunk is read
// again and hashed right before it is packed, and goes on the wire only if it is still the approved one. Offers the manifest, sends the
// chunks that the host lacks in compressed packs, lets the host build the snapshot. Reading and compressing run beside sending.
#include "policies/approved_set.h"
#include "sync/remote_client.h"

#include <functional>

namespace remotemac::sync {

struct PushOptions {
  // Called before anything of the project (names are data too) is sent; an error stops the push with nothing sent. The audit record
  // that allows the transfer is made durable here.
  std::function<Result<void>()> before_first_byte;
  // Bytes of file content handled, of those that must be sent; false = stop (error interrupted).
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

struct PushReport {
  std::uint64_t files = 0;
  std::uint64_t bytes_total = 0;      // of the project
  std::uint64_t bytes_sent = 0;       // on the wire, compressed, manifest included
  std::uint64_t content_bytes = 0;    // of those chunks before compression
  std::uint64_t chunks_sent = 0;
  std::uint64_t chunks_present = 0;   // the host had them
  double seconds = 0;
  Digest snapshot;
};

// Errors: changed (a file is no longer what was approved), protocol (the host asks for something that was not offered), interrupted,
// what before_first_byte gives, and those of RemoteClient. After an error the client is finished; pushing again sends what is missing.
[[nodiscard]] Result<PushReport> push(RemoteClient& client, const policies::ApprovedSet& approved, const PushOptions& options);

} // namespace remotemac::sync
