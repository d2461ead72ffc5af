#include "sync/ssh/dial.h"

#include "common/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char** environ;

namespace remotemac::sync {
namespace {
constexpr std::size_t k_messages_max = 4096;

struct AddressList {
  addrinfo* first = nullptr;
  ~AddressList() {
    if (first != nullptr)
      ::freeaddrinfo(first);
  }
};

std::string place(const std::string& host, int port) { return host + " port " + std::to_string(port); }

Error unknown_name(const std::string& host, int status) {
  if (status == EAI_AGAIN)
    return Error(ErrorCode::unreachable, "the name '" + host + "' could not be looked up right now", "check the network and the name server, then try again");
  return Error(ErrorCode::unreachable, "the name '" + host + "' is not known (" + ::gai_strerror(status) + ")",
               "check the spelling; a short name needs an entry in ~/.ssh/config (HostName)");
}

Error no_connection(const std::string& host, int port, int number) {
  const std::string where = place(host, port);
  switch (number) {
  case ECONNREFUSED:
    return Error(ErrorCode::unreachable, "nothing listens on " + where + " (connection refused)",
                 "check the port, and that remote login (sshd) is switched on there");
  case ETIMEDOUT:
    return Error(ErrorCode::unreachable, where + " did not answer in time",
                 "check that the machine is on and not asleep, and that no firewall is in between");
  case EHOSTUNREACH:
  case ENETUNREACH:
    return Error(ErrorCode::unreachable, "there is no route to " + where, "check the network, and VPN or ProxyJump if the host needs one");
  default:
    return Error(ErrorCode::unreachable, io_error("cannot connect to " + where, number).message(), "check the address and the network");
  }
}

// 0, or the errno of the failure.
int connect_one(int fd, const addrinfo& address, const Deadline& deadline) {
  if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0)
    return 0;
  if (errno != EINPROGRESS)
    return errno;
  while (true) {
    pollfd entry{fd, POLLOUT, 0};
    const int n = ::poll(&entry, 1, deadline.poll_ms());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return n == 0 ? ETIMEDOUT : errno;
    int failure = 0;
    socklen_t size = sizeof failure;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 ? failure : errno;
  }
}

UniqueFd new_socket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM, 0));
  if (fd) {
    ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    const int on = 1;
    if (family != AF_UNIX)
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return fd;
}
} // namespace

Line::Line(UniqueFd socket, pid_t proxy, UniqueFd proxy_messages)
    : m_socket(std::move(socket)), m_proxy(proxy), m_messages_fd(std::move(proxy_messages)) {}

Line::Line(Line&& other) noexcept
    : m_socket(std::move(other.m_socket)), m_proxy(std::exchange(other.m_proxy, -1)), m_messages_fd(std::move(other.m_messages_fd)),
      m_messages(std::move(other.m_messages)) {}

Line& Line::operator=(Line&& other) noexcept {
  if (this != &other) {
    end_proxy();
    m_socket = std::move(other.m_socket);
    m_proxy = std::exchange(other.m_proxy, -1);
    m_messages_fd = std::move(other.m_messages_fd);
    m_messages = std::move(other.m_messages);
  }
  return *this;
}

Line::~Line() { end_proxy(); }

std::string Line::proxy_messages() {
  char buffer[1024];
  ssize_t n = 0;
  while (m_messages_fd && (n = ::read(m_messages_fd.get(), buffer, sizeof buffer)) > 0)
    m_messages.append(buffer, std::min(static_cast<std::size_t>(n), k_messages_max - std::min(k_messages_max, m_messages.size())));
  return clean_line(trim(m_messages), 500);
}

void Line::end_proxy() {
  m_socket.reset();
  if (m_proxy < 0)
    return;
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    if (signal != 0)
      ::kill(-m_proxy, signal);
    const Deadline deadline(std::chrono::milliseconds(signal == 0 ? 200 : 2000));
    while (true) {
      const pid_t got = ::waitpid(m_proxy, nullptr, WNOHANG);
      if (got == m_proxy || (got < 0 && errno != EINTR)) {
        m_proxy = -1;
        return;
      }
      if (deadline.passed())
        break;
      ::poll(nullptr, 0, 2);
    }
  }
}

Result<Line> dial_tcp(const std::string& host, int port, const Deadline& deadline) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  AddressList list;
  if (const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list.first); status != 0)
    return unknown_name(host, status);
  int left = 0;
  for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next)
    ++left;
  int failure = EHOSTUNREACH;
  // A dead address (often the IPv6 one) must not eat the time of the living: each gets an equal share of what is left.
  for (const addrinfo* each = list.first; each != nullptr; each = each->ai_next, --left) {
    UniqueFd fd = new_socket(each->ai_family);
    if (!fd) {
      failure = errno;
      continue;
    }
    failure = connect_one(fd.get(), *each, Deadline(deadline.left() / left));
    if (failure == 0)
      return Line(std::move(fd), -1, UniqueFd());
  }
  return no_connection(host, port, failure);
}

Result<Line> dial_proxy(const std::string& command) {
  int pair[2];
  int messages[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return io_error("cannot make a socket pair", errno);
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  if (::pipe(messages) != 0)
    return io_error("cannot make a pipe", errno);
  UniqueFd read_end(messages[0]);
  UniqueFd write_end(messages[1]);
  for (const int fd : {pair[0], pair[1], messages[0], messages[1]})
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTERM, SIGHUP})
    sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0); // Ctrl-C at the terminal must not cut the line before we decide
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string text = command.starts_with("exec ") ? command : "exec " + command;
  char* argv[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t pid = -1;
  const int status = ::posix_spawn(&pid, shell.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0)
    return Error(ErrorCode::process, std::string("cannot start the ProxyCommand: ") + std::strerror(status));
  return Line(std::move(ours), pid, std::move(read_end));
}

Result<std::string> expand_proxy(const std::string& command, const SshTarget& target, const std::string& name_given) {
  std::string out;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] != '%') {
      out += command[i];
      continue;
    }
    switch (++i < command.size() ? command[i] : '\0') {
    case '%': out += '%'; break;
    case 'h': out += target.host; break;
    case 'n': out += name_given; break;
    case 'p': out += std::to_string(target.port); break;
    case 'r': out += target.user; break;
    default:
      return Error(ErrorCode::config, "the ProxyCommand of '" + name_given + "' holds '%" + command.substr(i, 1) + "', which is not supported",
                   "supported are %h (host), %n (name as given), %p (port), %r (user) and %%");
    }
  }
  return out;
}

} // namespace remotemac::sync
