#include "sync/ssh/ssh_transport.h"

#include "common/text.h"
#include "sync/ssh/session_loop.h"

#include <algorithm>
#include <cstring>

namespace remotemac::sync {
namespace {
// The stream of one channel; keeps the session's loop alive but not running.
class ChannelStream final : public ByteStream {
public:
  ChannelStream(std::shared_ptr<SessionLoop> loop, std::shared_ptr<Channel> channel) : m_loop(std::move(loop)), m_channel(std::move(channel)) {}
  ~ChannelStream() override { ChannelStream::close(); }

  Result<std::size_t> read_some(std::span<std::uint8_t> into, const Deadline& deadline) override {
    std::unique_lock lock(m_channel->mutex);
    const auto ready = [&] { return !m_channel->in.empty() || m_channel->ended || m_channel->failure; };
    if (!m_channel->changed.wait_for(lock, deadline.left(), ready))
      return Error(ErrorCode::deadline, "the time for waiting for an answer from " + m_loop->where() + " is over");
    if (m_channel->in.empty()) {
      if (m_channel->ended)
        return std::size_t{0};
      return *m_channel->failure;
    }
    const std::size_t before = m_channel->in.size();
    const std::size_t size = std::min(into.size(), before);
    std::memcpy(into.data(), m_channel->in.data(), size);
    m_channel->in.drop(size);
    lock.unlock();
    // Only when the buffer becomes half empty: waking for every few bytes would cost more than it brings.
    if (before >= Channel::k_in_max / 2 && before - size < Channel::k_in_max / 2)
      m_loop->wake();
    return size;
  }

  Result<void> write_all(std::span<const std::uint8_t> bytes, const Deadline& deadline) override {
    while (!bytes.empty()) {
      std::unique_lock lock(m_channel->mutex);
      const auto ready = [&] { return m_channel->out.size() < Channel::k_out_max || broken(); };
      if (!m_channel->changed.wait_for(lock, deadline.left(), ready))
        return Error(ErrorCode::deadline, "the time for sending to " + m_loop->where() + " is over");
      if (m_channel->failure)
        return *m_channel->failure;
      if (m_channel->write_failure)
        return *m_channel->write_failure;
      if (m_channel->finished)
        return Error(ErrorCode::connection, "the command on " + m_loop->where() + " has ended");
      const std::size_t size = std::min(bytes.size(), Channel::k_out_max - m_channel->out.size());
      const bool was_empty = m_channel->out.empty();
      m_channel->out.append(bytes.first(size));
      lock.unlock();
      if (was_empty)
        m_loop->wake();
      bytes = bytes.subspan(size);
    }
    return ok();
  }

  std::string side_messages() override {
    const std::lock_guard lock(m_channel->mutex);
    return clean_text(m_channel->messages);
  }

  void close() override {
    {
      const std::lock_guard lock(m_channel->mutex);
      m_channel->close_wanted = true;
    }
    m_loop->wake();
  }

private:
  [[nodiscard]] bool broken() const { return m_channel->failure || m_channel->write_failure || m_channel->finished; }

  std::shared_ptr<SessionLoop> m_loop;
  std::shared_ptr<Channel> m_channel;
};

void keep(std::string& into, ByteQueue& from, std::size_t max_bytes, bool& truncated) {
  const std::size_t room = max_bytes - std::min(max_bytes, into.size());
  truncated = truncated || from.size() > room;
  into.append(reinterpret_cast<const char*>(from.data()), std::min(room, from.size()));
  from.drop(from.size());
}
} // namespace

struct SshTransport::Impl {
  explicit Impl(std::shared_ptr<SessionLoop> started) : loop(std::move(started)) {}
  ~Impl() { loop->stop(); }
  std::shared_ptr<SessionLoop> loop;
};

Result<SshTarget> resolve_destination(const std::string& destination, const std::filesystem::path& config_file) {
  SshOptions options;
  options.config_file = config_file;
  RM_ASSIGN(const std::unique_ptr<Session> session, Session::create(destination, options, Agent::leave_out));
  return session->target();
}

Result<HostKey> fetch_host_key(const std::string& destination, const SshOptions& options) {
  RM_ASSIGN(const std::shared_ptr<SessionLoop> loop, SessionLoop::start(destination, options, SessionLoop::Until::host_key));
  loop->stop();
  return loop->host_key();
}

SshTransport::SshTransport(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
SshTransport::~SshTransport() = default;

Result<std::unique_ptr<SshTransport>> SshTransport::connect(const std::string& destination, const SshOptions& options) {
  RM_ASSIGN(std::shared_ptr<SessionLoop> loop, SessionLoop::start(destination, options, SessionLoop::Until::login));
  return std::unique_ptr<SshTransport>(new SshTransport(std::make_unique<Impl>(std::move(loop))));
}

Result<std::unique_ptr<ByteStream>> SshTransport::exec(const std::string& remote_command, const Deadline& deadline) {
  RM_ASSIGN(std::shared_ptr<Channel> channel, m_impl->loop->open(remote_command, Channel().messages_max, deadline));
  return std::unique_ptr<ByteStream>(std::make_unique<ChannelStream>(m_impl->loop, std::move(channel)));
}

Result<ProcessResult> SshTransport::run(const std::string& remote_command, std::string_view input, const Deadline& deadline,
                                        std::size_t max_output_bytes) {
  const auto began = std::chrono::steady_clock::now();
  RM_ASSIGN(const std::shared_ptr<Channel> channel, m_impl->loop->open(remote_command, max_output_bytes, deadline));
  const ChannelStream closes_at_the_end(m_impl->loop, channel);
  ProcessResult result;
  std::span<const std::uint8_t> left(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  std::unique_lock lock(channel->mutex);
  while (true) {
    if (channel->failure)
      return Error(*channel->failure).while_trying("running a command on " + m_impl->loop->where());
    keep(result.out, channel->in, max_output_bytes, result.truncated);
    if (channel->ended && channel->finished)
      break;
    if (channel->write_failure)
      left = {}; // the command did not want all of its input: its exit status tells whether that matters
    const std::size_t size = std::min(left.size(), Channel::k_out_max - std::min(Channel::k_out_max, channel->out.size()));
    channel->out.append(left.first(size));
    left = left.subspan(size);
    channel->input_complete = left.empty();
    m_impl->loop->wake();
    const auto ready = [&] {
      return channel->failure || !channel->in.empty() || channel->finished || (!left.empty() && (channel->out.size() < Channel::k_out_max / 2 || channel->write_failure));
    };
    if (!channel->changed.wait_for(lock, deadline.left(), ready))
      return Error(ErrorCode::deadline, "a command on " + m_impl->loop->where() + " took too long");
  }
  result.err = channel->messages;
  result.truncated = result.truncated || channel->messages_truncated;
  result.exit_code = channel->exit_status;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

std::string SshTransport::describe() const {
  const std::string& where = m_impl->loop->where();
  return m_impl->loop->target().proxy.empty() ? where : where + " through a proxy";
}

const HostKey& SshTransport::host_key() const { return m_impl->loop->host_key(); }

std::string SshTransport::crypto() const { return "libssh " + libssh_version() + ", " + m_impl->loop->cipher(); }

std::string libssh_version() {
  const char* text = ssh_version(0); // "0.10.6/openssl/zlib"
  const std::string_view whole = text == nullptr ? "" : text;
  return std::string(whole.substr(0, whole.find('/')));
}

} // namespace remotemac::sync
