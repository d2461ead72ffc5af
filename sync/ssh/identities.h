#pragma once
// Which keys the user's ssh_config names for a host: IdentityFile (all of them, in order), IdentitiesOnly, IdentityAgent. libssh's parser
// gives the first one only and its automatic login writes .pub files into ~/.ssh, so these three are read here. Not a general parser:
// everything else is libssh's part. Pure but for reading the files. `Match exec` never matches here, no command is run.
#include "sync/ssh/ssh_transport.h"

namespace remotemac::sync {

struct Identities {
  std::vector<std::filesystem::path> files; // expanded, not checked for existence; the usual ~/.ssh/id_* when none is named
  bool only = false;                        // IdentitiesOnly: the agent must not offer whatever else it holds
  std::string agent;                        // IdentityAgent: a socket, "none", or "" = SSH_AUTH_SOCK
};

// config_file as in SshOptions. A file that cannot be read counts as empty: libssh has already complained where it matters.
[[nodiscard]] Identities read_identities(const std::filesystem::path& config_file, const std::string& name_given, const SshTarget& target);

} // namespace remotemac::sync
