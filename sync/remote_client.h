#pragma once
// The client's end of docs/protocol.md: starts `remotemacd connect` over a Transport, finds the daemon's first byte behind whatever a
// login shell prints, agrees on a version, and has one typed method for each message. Files are pushed by uploader.h, which alone may
// use the snapshot messages; they are pulled by collector.h.
// Blocking, one request at a time, one thread at a time. Every method ends at a deadline. After an error of the line or of the protocol
// (connection, deadline, protocol) the client is finished: make a new one. An error that the daemon reported leaves it usable.
// All text of the far end is cleaned of control characters before it gets out of here, except log and output bytes, which are raw.
#include "common/digest.h"
#include "common/frame.h"
#include "common/job.h"
#include "common/rel_path.h"
#include "sync/buffered_stream.h"
#include "sync/transport.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace remotemac::sync {

struct ClientOptions {
  std::string program;   // remotemacd on the host, absolute: <install dir>/remotemacd
  std::string state_dir; // absolute
  std::chrono::milliseconds start_timeout{20'000};   // until the daemon's first line
  std::chrono::milliseconds request_timeout{60'000}; // of each answer, on top of what the request itself waits for
  std::chrono::milliseconds stall_timeout{60'000};   // without a byte of progress while sending or receiving
};

struct DaemonInfo {
  std::string version;
  int protocol = 0;
  std::vector<std::string> features;
  std::string state_dir;
  std::size_t shell_noise_bytes = 0; // what the login shell printed before the daemon spoke; doctor shows it
};

struct JobEvents {
  std::vector<nlohmann::json> events;
  std::uint64_t last_seq = 0; // what to ask after next time
  JobState state = JobState::queued;
};

struct BytesPart {
  std::vector<std::uint8_t> bytes;
  bool end = false; // nothing will ever follow
};

struct RemoteFile {
  RelPath name;
  std::uint64_t size_bytes = 0;
  Digest sha256;
  std::string missing; // the reason; "" = the file is there
};

struct OfferAnswer {
  bool present = false; // the whole snapshot is there
  std::vector<Digest> missing;
  std::uint64_t bytes_sent = 0;
};

struct StoredPacks {
  std::uint64_t stored = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t bytes = 0;
};

struct Snapshot {
  Digest digest;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

class RemoteClient {
public:
  // Errors: shell_noise, setup (not installed, or it ended at once), protocol_mismatch, deadline, connection, protocol, and what
  // Transport::exec gives.
  [[nodiscard]] static Result<std::unique_ptr<RemoteClient>> connect(Transport& transport, const ClientOptions& options);
  // The same over a stream that is already there, for tests: waits for the line with the nonce.
  [[nodiscard]] static Result<std::unique_ptr<RemoteClient>> open(std::unique_ptr<ByteStream> stream, const std::string& nonce,
                                                                  const ClientOptions& options, const std::string& where);
  ~RemoteClient();
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;

  [[nodiscard]] const DaemonInfo& daemon() const { return m_daemon; }
  [[nodiscard]] const std::string& daemon_version() const { return m_daemon.version; }
  [[nodiscard]] const ClientOptions& options() const { return m_options; }
  [[nodiscard]] bool has_feature(std::string_view name) const;
  // The line or the protocol broke: make a new client.
  [[nodiscard]] bool is_finished() const { return m_finished.has_value(); }

  [[nodiscard]] Result<nlohmann::json> host_facts();
  // The job's id. One attempt; submit.h has the one that survives a lost answer.
  [[nodiscard]] Result<std::string> submit(const JobSpec& spec);
  // Does the daemon live? Answered at once, whatever it is busy with.
  [[nodiscard]] Result<void> ping();
  [[nodiscard]] Result<std::vector<JobRecord>> list();
  [[nodiscard]] Result<JobRecord> status(const std::string& job);
  // Waits up to `wait` (<= 20 s) for an event with a sequence number above `after`.
  [[nodiscard]] Result<JobEvents> events(const std::string& job, std::uint64_t after, std::chrono::milliseconds wait);
  // Never more than max_bytes (<= 1 MiB), always from exactly `offset`.
  [[nodiscard]] Result<BytesPart> log(const std::string& job, const std::string& stream, std::uint64_t offset, std::size_t max_bytes,
                                      std::chrono::milliseconds wait);
  [[nodiscard]] Result<std::string> cancel(const std::string& job); // the state after it
  // One entry for each name, in the order asked, or it is a protocol error.
  [[nodiscard]] Result<std::vector<RemoteFile>> stat(const std::string& job, const std::vector<RelPath>& names);
  [[nodiscard]] Result<BytesPart> fetch(const std::string& job, const RelPath& name, std::uint64_t offset, std::size_t max_bytes);
  [[nodiscard]] Result<void> forget(const std::string& job);
  [[nodiscard]] Result<void> stop(); // the daemon; running jobs go on

private:
  friend class Uploader; // the only one that may hand over bytes of files: it takes them from an ApprovedSet
  static constexpr std::chrono::minutes k_work_wait{15}; // the host builds, lists and flushes a whole tree, hashes files, or deletes them
  RemoteClient(BufferedStream stream, ClientOptions options, std::string where);

  // What the host asks for is not checked against the offer here.
  [[nodiscard]] Result<OfferAnswer> offer_snapshot(const std::string& canonical_manifest, const Digest& digest);
  [[nodiscard]] Result<void> begin_packs();
  // Stops with the daemon's error when it has already answered. on_piece is told the bytes sent of this pack; false = stop.
  using OnPiece = std::function<bool(std::size_t sent)>;
  [[nodiscard]] Result<void> send_pack(std::span<const std::uint8_t> compressed, const OnPiece& on_piece);
  [[nodiscard]] Result<StoredPacks> end_packs();
  [[nodiscard]] Result<Snapshot> commit_snapshot(const Digest& digest);

  [[nodiscard]] Result<void> await_first_line(const std::string& nonce);
  [[nodiscard]] Error ended_early(const std::string& noise);
  [[nodiscard]] Result<void> say_hello();
  [[nodiscard]] Result<nlohmann::json> call(const char* method, nlohmann::json params, std::chrono::milliseconds waits = {});
  [[nodiscard]] Result<Frame> read_any(std::chrono::milliseconds waits);
  [[nodiscard]] Result<void> send_payload(FrameType type, std::span<const std::uint8_t> payload, const char* method, const OnPiece& on_piece = {});
  [[nodiscard]] Result<void> send_request(const char* method, nlohmann::json params);
  [[nodiscard]] Result<nlohmann::json> read_answer(const char* method, std::chrono::milliseconds waits);
  [[nodiscard]] Result<BytesPart> read_part(const nlohmann::json& answer, std::size_t max_bytes);
  [[nodiscard]] Result<void> write_slowly(std::span<const std::uint8_t> bytes, const OnPiece& on_piece = {});
  // Marks the client as finished unless the error is the daemon's own.
  [[nodiscard]] Error finished(Error error);
  [[nodiscard]] Error lied(const std::string& what);

  BufferedStream m_stream;
  ClientOptions m_options;
  std::string m_where;
  DaemonInfo m_daemon;
  std::int64_t m_last_id = 0;
  std::optional<Error> m_finished;
};

} // namespace remotemac::sync
