#include "daemon/session.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "common/version.h"
#include "daemon/params.h"

#include <nlohmann/json.hpp>

namespace remotemac::daemon {
namespace {
using nlohmann::json;
constexpr std::chrono::milliseconds k_wait_max{20'000};
constexpr std::chrono::milliseconds k_look_again{100};
constexpr std::size_t k_request_max_bytes = std::size_t{16} << 20; // the longest: job.stat with 10 000 names
constexpr std::size_t k_long_bytes = std::size_t{64} << 10;

Error protocol(const std::string& what) { return Error(ErrorCode::protocol, what, "bring both sides to the same release"); }

json error_object(const Error& error) {
  json data{{"code", code_name(error.code())}, {"hint", error.hint()}};
  if (error.code() == ErrorCode::protocol_mismatch) {
    data["protocol_min"] = k_protocol_min;
    data["protocol_max"] = k_protocol_max;
  }
  return {{"code", -32000 - static_cast<int>(error.code())}, {"message", error.chain()}, {"data", std::move(data)}};
}

std::vector<std::string> features() {
  std::vector<std::string> out = Handlers::names();
  for (const char* each : {"ping", "snapshot.offer", "blobs.put", "snapshot.commit", "job.forget", "daemon.stop", "submit-key"})
    out.emplace_back(each);
  return out;
}
} // namespace

Session::Session(Engine& engine, asio::local::stream_protocol::socket socket, const LineTimes& times, std::function<void()> stop)
    : m_engine(engine), m_line(std::move(socket), times), m_handlers(engine.parts), m_stop(std::move(stop)) {}

asio::awaitable<void> Session::run() {
  try {
    co_await serve();
  } catch (const std::exception& error) {
    // Everything that throws is caught where it is called; what arrives here is a defect of ours and ends this connection only.
    log_event(LogLevel::error, "server", "exception", {{"error", clean_line(error.what(), 500)}});
  }
  m_line.close();
}

asio::awaitable<void> Session::serve() {
  while (m_next == Next::go_on) {
    const Result<std::optional<Request>> next = co_await next_request();
    if (!next)
      log_event(LogLevel::warn, "server", "connection-ended", {{"error", next.error().chain()}});
    if (!next || !*next)
      co_return;
    const Request& request = **next;
    const Result<Reply> reply = co_await answer(request);
    if (!reply)
      log_event(LogLevel::warn, "server", "refused", {{"method", clean_line(request.method, 40)}, {"error", reply.error().chain()}});
    const Result<void> sent = co_await send(request, reply);
    if (!sent) {
      log_event(LogLevel::warn, "server", "not-answered", {{"method", clean_line(request.method, 40)}, {"error", sent.error().chain()}});
      co_return;
    }
    if (reply && request.method == "daemon.stop")
      m_stop();
  }
}

// A long request is taken apart elsewhere: this thread is everybody's.
Task<std::optional<Session::Request>> Session::next_request() {
  m_idle_since = std::chrono::steady_clock::now();
  const Result<std::optional<Frame>> frame = co_await m_line.read_frame(m_greeted ? Line::Expect::next_request : Line::Expect::first_request);
  m_idle_since.reset();
  if (!frame)
    co_return frame.error();
  if (!*frame)
    co_return std::optional<Request>();
  const std::size_t size = (*frame)->payload.size();
  if (size > k_request_max_bytes)
    co_return protocol("the client sent a request of " + human_bytes(size));
  const std::function<Result<Request>()> take_apart = [&frame] { return parse(**frame); };
  Result<Request> request = Error(ErrorCode::internal, "not parsed");
  if (size > k_long_bytes)
    request = co_await ask_on(m_engine.readers, take_apart);
  else
    request = take_apart();
  if (!request)
    co_return request.error();
  co_return std::optional<Request>(std::move(*request));
}

Result<Session::Request> Session::parse(const Frame& frame) {
  if (frame.type != FrameType::control)
    return protocol("the client sent other bytes where a request was due");
  const std::string_view text(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  RM_ASSIGN(json parsed, parse_json(text, "a request"));
  const json& id = json_at(parsed, "id");
  const json& params = json_at(parsed, "params");
  if (!parsed.is_object() || json_text(parsed, "jsonrpc") != "2.0" || !id.is_number_integer() || json_text(parsed, "method").empty() || !params.is_object())
    return protocol("the client sent something that is not a request");
  Request request;
  request.id = json_int(parsed, "id", -1);
  request.method = json_text(parsed, "method");
  request.params = params;
  return request;
}

Task<void> Session::send(const Request& request, const Result<Reply>& reply) {
  json message{{"jsonrpc", "2.0"}, {"id", request.id}};
  if (reply)
    message["result"] = reply->result;
  else
    message["error"] = error_object(reply.error());
  const std::function<Result<std::string>()> write_down = [&message] { return Result<std::string>(dump_json(message, -1)); };
  RM_CO_ASSIGN(const std::string text, co_await ask_on(m_engine.readers, write_down));
  if (text.size() > frame_cap(FrameType::control)) {
    const Result<Reply> too_long = Error(ErrorCode::remote_refused, "the answer has " + human_bytes(text.size()) + ", more than a frame holds", "forget old jobs, or ask for less at once");
    co_return co_await send(request, too_long);
  }
  RM_CO_TRY(co_await m_line.write_frame(FrameType::control, text));
  if (reply && !reply->data.empty())
    RM_CO_TRY(co_await m_line.write_frame(FrameType::data, reply->data));
  co_return ok();
}

Result<Reply> Session::hello(const json& params) {
  const std::int64_t least = json_int(params, "protocol_min", 0);
  const std::int64_t most = json_int(params, "protocol_max", 0);
  const std::int64_t chosen = std::min<std::int64_t>(most, k_protocol_max);
  if (chosen < least || chosen < k_protocol_min) {
    m_next = Next::hang_up;
    return Error(ErrorCode::protocol_mismatch, "no protocol version in common (daemon: " + std::to_string(k_protocol_min) + " to " + std::to_string(k_protocol_max) +
                                                   ", client: " + std::to_string(least) + " to " + std::to_string(most) + ")");
  }
  m_greeted = true;
  return Reply(json{{"daemon_version", k_version}, {"protocol", chosen}, {"features", features()}, {"state_dir", m_engine.parts.state.root().string()}});
}

Task<Reply> Session::answer(const Request& request) {
  if (request.method == "hello")
    co_return hello(request.params);
  if (!m_greeted) {
    m_next = Next::hang_up;
    co_return protocol("the client did not say hello");
  }
  if (request.method == "ping")
    co_return Reply();
  if (request.method == "snapshot.offer")
    co_return co_await offer(request.params);
  if (request.method == "blobs.put")
    co_return co_await put_blobs();
  if (request.method == "snapshot.commit")
    co_return co_await commit(request.params);
  if (request.method == "job.forget")
    co_return co_await forget(request.params);
  if (request.method == "daemon.stop") {
    m_next = Next::hang_up;
    co_return Reply();
  }
  const Handlers::Method* method = Handlers::find(request.method);
  if (method == nullptr)
    co_return Error(ErrorCode::usage, "there is no method '" + clean_line(request.method, 60) + "'", "bring both sides to the same release");
  co_return co_await ask_handler(*method, request.params);
}

Task<Reply> Session::ask_handler(const Handlers::Method& method, const json& params) {
  const std::int64_t asked = json_int(params, "wait_ms", 0);
  const Deadline deadline(std::clamp(std::chrono::milliseconds(asked), std::chrono::milliseconds(0), k_wait_max));
  const Engine::Where& where = method.thread == Thread::jobs ? m_engine.jobs : method.thread == Thread::slow ? m_engine.slow : m_engine.readers;
  const std::function<Result<Reply>()> question = [this, &method, &params] { return (m_handlers.*method.run)(params); };
  asio::steady_timer timer(m_engine.io);
  while (true) {
    Result<Reply> reply = co_await ask_on(where, question);
    if (method.thread == Thread::jobs)
      m_engine.tick.cancel(); // a new or a cancelled job is looked at now
    if (!reply || !reply->nothing_yet || deadline.passed())
      co_return reply;
    timer.expires_after(std::min(k_look_again, deadline.left()));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

Task<Reply> Session::forget(const json& params) {
  RM_CO_ASSIGN(const std::string id, job_param(params));
  std::set<std::string> released;
  const std::function<Result<void>()> remove = [&]() -> Result<void> {
    JobStore& jobs = m_engine.parts.jobs;
    RM_TRY(jobs.find(id));
    const Result<JobRecord> record = jobs.record(id); // a damaged one must be forgettable too
    if (record && !is_final(record->state))
      return Error(ErrorCode::remote_refused, "the job " + id + " has not ended", "cancel it first: remotemac cancel " + id);
    if (record)
      released.insert(record->snapshot);
    RM_TRY_WHILE("deleting the job " + id, jobs.discard(id)); // the sweep below deletes its files
    RM_ASSIGN(const std::vector<JobRecord> left, jobs.list());
    for (const JobRecord& each : left) {
      if (each.job == id)
        return Error(ErrorCode::io, "the job " + id + " is still there after it was deleted");
    }
    return ok();
  };
  RM_CO_TRY(co_await ask_on(m_engine.jobs, remove));
  const auto swept = co_await sweep_everything(m_engine, released);
  if (!swept)
    co_return swept.error();
  const std::function<Result<void>()> look_again = [&]() -> Result<void> {
    RM_ASSIGN(const std::vector<std::filesystem::path> discarded, m_engine.parts.jobs.discarded());
    for (const std::filesystem::path& each : discarded) {
      if (each.filename().string().find(id) != std::string::npos)
        return Error(ErrorCode::io, "the job " + id + " is forgotten, but not all of its files could be deleted", "look at serve.log on the host; deleting is tried again every ten minutes");
    }
    return ok();
  };
  RM_CO_TRY(co_await ask_on(m_engine.jobs, look_again));
  co_return Reply();
}

} // namespace remotemac::daemon
