#include "sync/remote_client.h"

#include "common/frame.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "common/version.h"
#include "common/zstd.h"
#include "sync/far_end.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_noise_max = std::size_t{64} << 10;
constexpr std::size_t k_piece_bytes = std::size_t{256} << 10;       // must move within stall_timeout
constexpr std::size_t k_manifest_part_bytes = std::size_t{4} << 20; // stays below the frame's cap even if it does not compress
constexpr std::size_t k_events_max = 1'000'000;
constexpr std::chrono::milliseconds k_wait_max{20'000};
constexpr std::chrono::minutes k_commit_wait{15}; // the host builds, lists and flushes a whole tree, or deletes one
constexpr std::chrono::minutes k_facts_wait{5};   // every interpreter and worker there is started once, from a cold disk

bool contains_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

std::chrono::milliseconds capped(std::chrono::milliseconds wait) { return std::clamp(wait, std::chrono::milliseconds(0), k_wait_max); }

std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
} // namespace

RemoteClient::RemoteClient(BufferedStream stream, ClientOptions options, std::string where)
    : m_stream(std::move(stream)), m_options(std::move(options)), m_where(std::move(where)) {}

RemoteClient::~RemoteClient() { m_stream.close(); }

Result<std::unique_ptr<RemoteClient>> RemoteClient::connect(Transport& transport, const ClientOptions& options) {
  const std::string nonce = random_hex(16);
  const std::string command = shell_quote(options.program) + " connect --nonce " + nonce + " --state-dir " + shell_quote(options.state_dir);
  RM_ASSIGN(std::unique_ptr<ByteStream> stream, transport.exec(command, Deadline(options.start_timeout)));
  return open(std::move(stream), nonce, options, transport.describe());
}

Result<std::unique_ptr<RemoteClient>> RemoteClient::open(std::unique_ptr<ByteStream> stream, const std::string& nonce, const ClientOptions& options,
                                                         const std::string& where) {
  std::unique_ptr<RemoteClient> client(new RemoteClient(BufferedStream(std::move(stream)), options, where));
  RM_TRY_WHILE("starting the daemon on " + where, client->await_first_line(nonce));
  RM_TRY(client->say_hello());
  log_event(LogLevel::info, "sync", "connected", {{"host", where}, {"daemon", client->m_daemon.version}});
  return client;
}

// ---- the first line

Result<void> RemoteClient::await_first_line(const std::string& nonce) {
  const std::string wanted = "REMOTEMAC-READY " + nonce + "\n";
  const Deadline deadline(m_options.start_timeout);
  std::string text;
  std::vector<std::uint8_t> buffer(16384);
  while (true) {
    const Result<std::size_t> got = m_stream.read_some(buffer, deadline);
    const std::string excerpt = clean_line(trim(text), 200);
    if (!got && got.error().code() == ErrorCode::deadline)
      return Error(ErrorCode::deadline, "the daemon did not answer within " + human_seconds(static_cast<double>(m_options.start_timeout.count()) / 1000) +
                                            (excerpt.empty() ? "" : "; the login shell printed: " + excerpt),
                   "does the login there wait for something? try: ssh <host> true");
    if (!got)
      return got.error();
    if (*got == 0)
      return ended_early(text);
    text.append(reinterpret_cast<const char*>(buffer.data()), *got);
    if (const std::size_t at = text.find(wanted); at != std::string::npos && at <= k_noise_max) {
      m_daemon.shell_noise_bytes = at;
      m_stream.give_back(bytes_of(std::string_view(text).substr(at + wanted.size())));
      return ok();
    }
    if (text.size() > k_noise_max + wanted.size())
      return Error(ErrorCode::shell_noise, "the login shell printed more than 64 KiB before the daemon could answer; it began with: " + clean_line(trim(text), 200),
                   "make the start-up files of that account silent when they are not run at a terminal");
  }
}

Error RemoteClient::ended_early(const std::string& noise) {
  const std::string messages = m_stream.side_messages();
  const std::string said = clean_line(trim(messages.empty() ? noise : messages), 400);
  const std::string lower = to_lower_ascii(messages + noise);
  std::string hint = "look at serve.log in " + m_options.state_dir + " there";
  if (contains_any(lower, {"not found", "no such file"}))
    hint = "remotemac is not (or no longer) installed there: run remotemac host add NAME DEST --replace for this host";
  else if (contains_any(lower, {"permission denied", "cannot execute", "exec format error", "bad cpu type", "killed"}))
    hint = "the daemon's program cannot run there (wrong machine type, or not allowed): run remotemac host add NAME DEST --replace for this host";
  return Error(ErrorCode::setup, said.empty() ? "the daemon ended at once without a word" : "the daemon ended before it answered; the host said: " + said, hint);
}

Result<void> RemoteClient::say_hello() {
  const Result<nlohmann::json> answer =
      call("hello", {{"client_version", k_version}, {"protocol_min", k_protocol_min}, {"protocol_max", k_protocol_max}});
  if (!answer)
    return answer.error();
  const std::int64_t protocol = json_int(*answer, "protocol");
  if (protocol < k_protocol_min || protocol > k_protocol_max)
    return finished(protocol_mismatch(static_cast<int>(std::clamp<std::int64_t>(protocol, 0, 9999)), static_cast<int>(std::clamp<std::int64_t>(protocol, 0, 9999)), m_where));
  m_daemon.protocol = static_cast<int>(protocol);
  m_daemon.version = clean_line(json_text(*answer, "daemon_version"), 100);
  m_daemon.state_dir = clean_line(json_text(*answer, "state_dir"), 1024);
  for (const nlohmann::json& feature : json_at(*answer, "features")) {
    if (feature.is_string() && m_daemon.features.size() < 100)
      m_daemon.features.push_back(clean_line(feature.get<std::string>(), 100));
  }
  return ok();
}

// ---- requests and answers

Error RemoteClient::finished(Error error) {
  if (!m_finished) {
    m_finished = error;
    m_stream.close();
  }
  return error;
}

Error RemoteClient::lied(const std::string& what) {
  return finished(Error(ErrorCode::protocol, "the daemon on " + m_where + " " + what, "if the host is yours, bring both sides to the same release; else stop trusting it"));
}

Result<void> RemoteClient::write_slowly(std::span<const std::uint8_t> bytes, const OnPiece& on_piece) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::span<const std::uint8_t> piece = bytes.subspan(at, std::min(bytes.size() - at, k_piece_bytes));
    RM_TRY(m_stream.write_all(piece, Deadline(m_options.stall_timeout)));
    at += piece.size();
    if (on_piece && !on_piece(at))
      return Error(ErrorCode::interrupted, "stopped while sending", "the same command goes on from here");
  }
  return ok();
}

Result<void> RemoteClient::send_request(const char* method, nlohmann::json params) {
  if (m_finished)
    return *m_finished;
  const std::string text = dump_json({{"jsonrpc", "2.0"}, {"id", ++m_last_id}, {"method", method}, {"params", std::move(params)}}, -1);
  if (text.size() > frame_cap(FrameType::control))
    return Error(ErrorCode::internal, std::string("the request ") + method + " is too long");
  Result<void> sent = write_slowly(encode_frame(FrameType::control, bytes_of(text)));
  if (!sent)
    return finished(std::move(sent).error_while("sending to " + m_where));
  return ok();
}

Result<Frame> RemoteClient::read_any(std::chrono::milliseconds waits) {
  std::array<std::uint8_t, 5> header{};
  Result<void> read = read_exactly(m_stream, header, Deadline(m_options.request_timeout + waits));
  if (!read) {
    const std::string said = clean_line(m_stream.side_messages(), 300);
    Error error = std::move(read).error_while("waiting for " + m_where);
    return finished(said.empty() ? std::move(error) : Error(error.code(), error.message() + "; the host said: " + said, error.hint()));
  }
  const auto parsed = parse_frame_header(header);
  if (!parsed)
    return finished(Error(parsed.error()).while_trying("reading from " + m_where));
  Frame frame;
  frame.type = parsed->first;
  for (std::size_t at = 0; at < parsed->second;) {
    // Grows with what really arrives: a header alone must not make us take 32 MiB.
    const std::size_t size = std::min(parsed->second - at, k_piece_bytes);
    frame.payload.resize(at + size);
    read = read_exactly(m_stream, std::span(frame.payload).subspan(at), Deadline(m_options.stall_timeout));
    if (!read)
      return finished(std::move(read).error_while("reading from " + m_where));
    at += size;
  }
  return frame;
}

Result<nlohmann::json> RemoteClient::read_answer(const char* method, std::chrono::milliseconds waits) {
  RM_ASSIGN(const Frame frame, read_any(waits));
  if (frame.type != FrameType::control)
    return lied(std::string("sent other bytes where the answer to ") + method + " was due");
  const std::string_view text(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  Result<nlohmann::json> parsed = parse_json(text, std::string("the answer to ") + method);
  if (!parsed || !parsed->is_object())
    return lied(std::string("answered ") + method + " with something that is not a JSON object");
  if (json_text(*parsed, "jsonrpc") != "2.0" || json_int(*parsed, "id", -1) != m_last_id || parsed->contains("result") == parsed->contains("error"))
    return lied(std::string("did not answer ") + method + " but something else");
  if (parsed->contains("error")) {
    const nlohmann::json& error = json_at(*parsed, "error");
    const nlohmann::json& data = json_at(error, "data");
    if (json_text(data, "code") == code_name(ErrorCode::protocol_mismatch))
      return finished(protocol_mismatch(static_cast<int>(std::clamp<std::int64_t>(json_int(data, "protocol_min"), 0, 9999)),
                                        static_cast<int>(std::clamp<std::int64_t>(json_int(data, "protocol_max"), 0, 9999)), m_where));
    return error_from_far_end(error, m_where);
  }
  nlohmann::json result = std::move((*parsed)["result"]);
  if (!result.is_object())
    return lied(std::string("answered ") + method + " with something that is not an object");
  return result;
}

Result<nlohmann::json> RemoteClient::call(const char* method, nlohmann::json params, std::chrono::milliseconds waits) {
  RM_TRY(send_request(method, std::move(params)));
  return read_answer(method, waits);
}

Result<BytesPart> RemoteClient::read_part(const nlohmann::json& answer, std::size_t max_bytes) {
  const std::int64_t size = json_int(answer, "size_bytes", -1);
  const nlohmann::json& end = json_at(answer, "end");
  if (size < 0 || static_cast<std::uint64_t>(size) > max_bytes || !end.is_boolean())
    return lied("announced a part of " + std::to_string(size) + " bytes where at most " + std::to_string(max_bytes) + " were asked for");
  BytesPart out;
  out.end = end.get<bool>();
  if (size == 0)
    return out;
  RM_ASSIGN(Frame frame, read_any({}));
  if (frame.type != FrameType::data || frame.payload.size() != static_cast<std::size_t>(size))
    return lied("announced " + std::to_string(size) + " bytes and sent something else");
  out.bytes = std::move(frame.payload);
  return out;
}

// ---- the messages

Result<nlohmann::json> RemoteClient::host_facts() {
  RM_ASSIGN(const nlohmann::json answer, call("host.facts", nlohmann::json::object(), k_facts_wait));
  return clean_json(answer);
}

Result<std::string> RemoteClient::submit(const JobSpec& spec) {
  RM_ASSIGN(const nlohmann::json answer, call("job.submit", {{"spec", to_json(spec)}}));
  const std::string job = json_text(answer, "job");
  if (!is_job_id(job))
    return lied("gave a job a name that is not allowed");
  return job;
}

Result<std::vector<JobRecord>> RemoteClient::list() {
  RM_ASSIGN(const nlohmann::json answer, call("job.list", nlohmann::json::object()));
  const nlohmann::json& jobs = json_at(answer, "jobs");
  if (!jobs.is_array())
    return lied("listed its jobs in a way that is not allowed");
  std::vector<JobRecord> out;
  for (const nlohmann::json& each : jobs) {
    Result<JobRecord> record = job_record_from_json(clean_json(each));
    if (!record)
      return lied("sent a job record that is not allowed: " + record.error().chain());
    out.push_back(std::move(*record));
  }
  return out;
}

Result<JobRecord> RemoteClient::status(const std::string& job) {
  RM_ASSIGN(const nlohmann::json answer, call("job.status", {{"job", job}}));
  Result<JobRecord> record = job_record_from_json(clean_json(answer));
  if (!record || record->job != job)
    return lied("sent a job record that is not the one asked for" + (record ? std::string() : ": " + record.error().chain()));
  return record;
}

Result<JobEvents> RemoteClient::events(const std::string& job, std::uint64_t after, std::chrono::milliseconds wait) {
  RM_ASSIGN(const nlohmann::json answer, call("job.events", {{"job", job}, {"after", after}, {"wait_ms", capped(wait).count()}}, capped(wait)));
  const nlohmann::json& events = json_at(answer, "events");
  const std::optional<JobState> state = state_from_name(json_text(answer, "state"));
  if (!events.is_array() || events.size() > k_events_max || !state)
    return lied("sent events in a way that is not allowed");
  JobEvents out{{}, after, *state};
  for (const nlohmann::json& each : events) {
    const std::int64_t sequence = json_int(each, "seq", -1);
    if (sequence < 0 || static_cast<std::uint64_t>(sequence) <= out.last_seq)
      return lied("sent events out of order");
    out.last_seq = static_cast<std::uint64_t>(sequence);
    out.events.push_back(clean_json(each));
  }
  return out;
}

Result<BytesPart> RemoteClient::log(const std::string& job, const std::string& stream, std::uint64_t offset, std::size_t max_bytes, std::chrono::milliseconds wait) {
  const std::size_t most = std::min(max_bytes, k_data_max_bytes);
  RM_ASSIGN(const nlohmann::json answer,
            call("job.log", {{"job", job}, {"stream", stream}, {"offset", offset}, {"max_bytes", most}, {"wait_ms", capped(wait).count()}}, capped(wait)));
  const std::int64_t from = json_int(answer, "offset", -1);
  if (from < 0 || static_cast<std::uint64_t>(from) != offset)
    return lied("sent log bytes from another place than asked");
  return read_part(answer, most);
}

Result<std::string> RemoteClient::cancel(const std::string& job) {
  RM_ASSIGN(const nlohmann::json answer, call("job.cancel", {{"job", job}}));
  const std::optional<JobState> state = state_from_name(json_text(answer, "state"));
  if (!state)
    return lied("answered a cancellation with an unknown state");
  return std::string(state_name(*state));
}

Result<std::vector<RemoteFile>> RemoteClient::stat(const std::string& job, const std::vector<RelPath>& names) {
  nlohmann::json list = nlohmann::json::array();
  for (const RelPath& name : names)
    list.push_back(name.text());
  // The host hashes the files for this, which takes its time for large ones.
  RM_ASSIGN(const nlohmann::json answer, call("job.stat", {{"job", job}, {"names", std::move(list)}}, k_commit_wait));
  const nlohmann::json& files = json_at(answer, "files");
  if (!files.is_array() || files.size() != names.size())
    return lied("described other files than those asked for");
  std::vector<RemoteFile> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (json_text(files[i], "name") != names[i].text())
      return lied("described other files than those asked for");
    RemoteFile file{names[i], 0, {}, clean_line(json_text(files[i], "missing"), 500)};
    if (file.missing.empty()) {
      const std::int64_t size = json_int(files[i], "size_bytes", -1);
      const Result<Digest> digest = Digest::from_hex(json_text(files[i], "sha256"));
      if (size < 0 || !digest)
        return lied("described '" + names[i].text() + "' in a way that is not allowed");
      file.size_bytes = static_cast<std::uint64_t>(size);
      file.sha256 = *digest;
    }
    out.push_back(std::move(file));
  }
  return out;
}

Result<BytesPart> RemoteClient::fetch(const std::string& job, const RelPath& name, std::uint64_t offset, std::size_t max_bytes) {
  const std::size_t most = std::min(max_bytes, k_data_max_bytes);
  RM_ASSIGN(const nlohmann::json answer, call("job.fetch", {{"job", job}, {"name", name.text()}, {"offset", offset}, {"max_bytes", most}}));
  return read_part(answer, most);
}

Result<void> RemoteClient::forget(const std::string& job) {
  RM_TRY(call("job.forget", {{"job", job}}, k_commit_wait));
  return ok();
}

Result<void> RemoteClient::stop() {
  RM_TRY(call("daemon.stop", nlohmann::json::object()));
  return ok();
}

// ---- the snapshot, for the uploader only

Result<OfferAnswer> RemoteClient::offer_snapshot(const std::string& canonical_manifest, const Digest& digest) {
  const std::size_t parts = (canonical_manifest.size() + k_manifest_part_bytes - 1) / k_manifest_part_bytes;
  RM_TRY(send_request("snapshot.offer", {{"manifest_digest", digest.hex()}, {"size_bytes", canonical_manifest.size()}, {"parts", parts}}));
  OfferAnswer out;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string_view part = std::string_view(canonical_manifest).substr(i * k_manifest_part_bytes, k_manifest_part_bytes);
    RM_ASSIGN(const std::vector<std::uint8_t> packed, zstd_compress(bytes_of(part), 3));
    RM_TRY(send_payload(FrameType::manifest, packed, "snapshot.offer"));
    out.bytes_sent += packed.size();
  }
  RM_ASSIGN(const nlohmann::json answer, read_answer("snapshot.offer", k_commit_wait));
  const nlohmann::json& present = json_at(answer, "present");
  const nlohmann::json& missing = json_at(answer, "missing");
  if (!present.is_boolean() || !missing.is_array())
    return lied("answered an offer in a way that is not allowed");
  out.present = present.get<bool>();
  for (const nlohmann::json& each : missing) {
    const Result<Digest> wanted = each.is_string() ? Digest::from_hex(each.get_ref<const std::string&>()) : Result<Digest>(Error(ErrorCode::protocol, ""));
    if (!wanted)
      return lied("asks for a chunk by something that is not a digest");
    out.missing.push_back(*wanted);
  }
  return out;
}

// A daemon that cannot go on (a full disk, say) may answer early and stop reading: its reason is worth more than our broken pipe.
Result<void> RemoteClient::send_payload(FrameType type, std::span<const std::uint8_t> payload, const char* method, const OnPiece& on_piece) {
  if (m_finished)
    return *m_finished;
  if (m_stream.has_input()) {
    Result<nlohmann::json> early = read_answer(method, {});
    if (!early)
      return finished(std::move(early).error());
    return lied(std::string("answered ") + method + " before everything was sent");
  }
  std::array<std::uint8_t, 5> header{};
  const auto length = static_cast<std::uint32_t>(payload.size() + 1);
  for (std::size_t i = 0; i < 4; ++i)
    header[i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
  header[4] = static_cast<std::uint8_t>(type);
  Result<void> sent = write_slowly(header);
  if (sent)
    sent = write_slowly(payload, on_piece);
  if (sent)
    return ok();
  if (sent.error().code() != ErrorCode::interrupted && m_stream.has_input()) {
    Result<nlohmann::json> reason = read_answer(method, {});
    if (!reason && !m_finished)
      return finished(std::move(reason).error());
  }
  return finished(std::move(sent).error_while("sending to " + m_where));
}

Result<void> RemoteClient::begin_packs() { return send_request("blobs.put", nlohmann::json::object()); }

Result<void> RemoteClient::send_pack(std::span<const std::uint8_t> compressed, const OnPiece& on_piece) {
  return send_payload(FrameType::pack, compressed, "blobs.put", on_piece);
}

Result<StoredPacks> RemoteClient::end_packs() {
  RM_TRY(send_payload(FrameType::pack, {}, "blobs.put"));
  RM_ASSIGN(const nlohmann::json answer, read_answer("blobs.put", k_commit_wait));
  const std::int64_t stored = json_int(answer, "stored", -1);
  const std::int64_t duplicate = json_int(answer, "duplicate", -1);
  const std::int64_t bytes = json_int(answer, "bytes", -1);
  if (stored < 0 || duplicate < 0 || bytes < 0)
    return lied("did not say what it stored");
  return StoredPacks{static_cast<std::uint64_t>(stored), static_cast<std::uint64_t>(duplicate), static_cast<std::uint64_t>(bytes)};
}

Result<Snapshot> RemoteClient::commit_snapshot(const Digest& digest) {
  RM_ASSIGN(const nlohmann::json answer, call("snapshot.commit", {{"manifest_digest", digest.hex()}}, k_commit_wait));
  const Result<Digest> built = Digest::from_hex(json_text(answer, "snapshot"));
  const std::int64_t files = json_int(answer, "files", -1);
  const std::int64_t bytes = json_int(answer, "bytes", -1);
  if (!built || files < 0 || bytes < 0)
    return lied("did not say what it built");
  return Snapshot{*built, static_cast<std::uint64_t>(files), static_cast<std::uint64_t>(bytes)};
}

} // namespace remotemac::sync
