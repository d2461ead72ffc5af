#include "sync/remote_client.h"

#include "common/frame.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "common/version.h"
#include "sync/far_end.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace remotemac::sync {
namespace {
constexpr std::size_t k_noise_max = std::size_t{64} << 10;
constexpr std::size_t k_piece_bytes = std::size_t{256} << 10; // must move within stall_timeout

bool contains_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

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

} // namespace remotemac::sync
