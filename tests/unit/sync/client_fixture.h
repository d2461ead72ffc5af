#pragma once
// A RemoteClient on one end of a socket pair and a scripted server on the other.
#include "sync/remote_client.h"
#include "tests/support/scripted_server.h"

#include <gtest/gtest.h>

namespace remotemac::sync {

inline const std::string k_nonce = "0123456789abcdef0123456789abcdef";
inline const std::string k_job = "jabcdefghijkl";

inline ClientOptions quick_options() {
  ClientOptions options;
  options.program = "/far/remotemacd";
  options.state_dir = "/far/state";
  options.start_timeout = std::chrono::seconds(20);
  options.request_timeout = std::chrono::seconds(20);
  options.stall_timeout = std::chrono::seconds(20);
  return options;
}

// The script is the far end from its first byte on.
inline Result<std::unique_ptr<RemoteClient>> open_client(test::ScriptedServer& server, const ClientOptions& options = quick_options()) {
  return RemoteClient::open(server.client_end(), k_nonce, options, "mini1");
}

// The script begins after a good start and hello. A null pointer is a failure already reported.
struct Connected {
  explicit Connected(test::ScriptedServer::Script script, const ClientOptions& options = quick_options())
      : server([script = std::move(script)](test::ServerSide& side) {
          side.ready(k_nonce);
          side.hello();
          script(side);
        }) {
    Result<std::unique_ptr<RemoteClient>> opened = open_client(server, options);
    if (opened)
      client = std::move(*opened);
    else
      ADD_FAILURE() << opened.error().chain();
  }
  test::ScriptedServer server;
  std::unique_ptr<RemoteClient> client; // goes first
};

} // namespace remotemac::sync
