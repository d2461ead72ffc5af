#include "daemon/local_socket.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace remotemac::daemon {
namespace {
struct Address {
  sockaddr_un value{};
  Address() {
    value.sun_family = AF_UNIX;
    std::copy(k_socket_name.begin(), k_socket_name.end(), value.sun_path);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }
};

Result<UniqueFd> make_socket(const StateDir& state) {
  if (::chdir(state.root().c_str()) != 0)
    return io_error("cannot enter the state folder " + state.root().string(), errno);
  UniqueFd made(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (!made || ::fcntl(made.get(), F_SETFD, FD_CLOEXEC) != 0)
    return io_error("cannot make a local socket", errno);
  return made;
}
} // namespace

Result<UniqueFd> listen_in(const StateDir& state) {
  RM_ASSIGN(UniqueFd made, make_socket(state));
  const std::string name(k_socket_name);
  if (::unlink(name.c_str()) != 0 && errno != ENOENT)
    return io_error("cannot remove the old socket " + name, errno);
  // Without the mask the socket would be open to others between bind and chmod.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(made.get(), Address().get(), sizeof(sockaddr_un));
  const int number = errno;
  ::umask(before);
  if (bound != 0)
    return io_error("cannot make the socket " + name, number);
  if (::chmod(name.c_str(), 0600) != 0 || ::listen(made.get(), 64) != 0)
    return io_error("cannot listen at the socket " + name, errno);
  return made;
}

Result<UniqueFd> connect_in(const StateDir& state) {
  RM_ASSIGN(UniqueFd made, make_socket(state));
  if (::connect(made.get(), Address().get(), sizeof(sockaddr_un)) == 0)
    return made;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR)
    return UniqueFd();
  return io_error("cannot connect to the daemon's socket", errno);
}

bool peer_is_same_user(int socket) {
#if defined(__linux__)
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
#else
  uid_t user = 0;
  gid_t group = 0;
  return ::getpeereid(socket, &user, &group) == 0 && user == ::geteuid();
#endif
}

std::optional<pid_t> peer_process(int socket) {
#if defined(__linux__)
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
    return peer.pid;
#endif
  (void)socket;
  return std::nullopt;
}

} // namespace remotemac::daemon
