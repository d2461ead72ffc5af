#pragma once
// A libssh transport to a real sshd, for the cases of this folder. Every wait ends at a deadline.
#include "sync/ssh/ssh_transport.h"
#include "tests/support/sshd_fixture.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace remotemac::sync {
using test::SshdFixture;
using test::SshdOptions;
using test::SshdVia;

inline Deadline soon() { return Deadline(std::chrono::seconds(30)); }

inline std::unique_ptr<SshdFixture> start(const SshdOptions& options = {}) {
  ::unsetenv("SSH_AUTH_SOCK");
  Result<std::unique_ptr<SshdFixture>> fixture = SshdFixture::start(options);
  if (!fixture)
    ADD_FAILURE() << fixture.error().chain();
  return fixture ? std::move(*fixture) : nullptr;
}

inline SshOptions options_for(const SshdFixture& fixture) {
  SshOptions options;
  options.config_file = fixture.client_config();
  options.pinned = {{"ssh-ed25519", fixture.host_key_fingerprint()}};
  return options;
}

inline std::unique_ptr<SshTransport> connect(const SshdFixture& fixture) {
  Result<std::unique_ptr<SshTransport>> transport = SshTransport::connect(fixture.destination(), options_for(fixture));
  if (!transport)
    ADD_FAILURE() << transport.error().chain() << "\n" << fixture.log();
  return transport ? std::move(*transport) : nullptr;
}

inline std::string read_to_end(ByteStream& stream, std::size_t max = std::size_t{64} << 20) {
  std::string out;
  std::vector<std::uint8_t> buffer(65536);
  while (out.size() < max) {
    const Result<std::size_t> n = stream.read_some(buffer, soon());
    if (!n) {
      ADD_FAILURE() << n.error().chain();
      break;
    }
    if (*n == 0)
      break;
    out.append(reinterpret_cast<const char*>(buffer.data()), *n);
  }
  return out;
}

inline std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

} // namespace remotemac::sync
