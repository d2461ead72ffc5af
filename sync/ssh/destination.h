#pragma once
// Where a host is, as people write it: "alias", "user@host", "user@host:port", "[::1]:2222", "ssh://user@host:port". Pure: no
// configuration file is read here. What passes is safe to hand to a command line: no control character, no leading '-', no shell syntax.
#include "common/result.h"

#include <string>
#include <string_view>

namespace remotemac::sync {

struct Destination {
  std::string user; // "" = from the configuration, else the local user
  std::string host; // name, alias or address (IPv6 without brackets)
  int port = 0;     // 0 = from the configuration, else 22
};

// Error usage, with what is wrong and how it should look.
[[nodiscard]] Result<Destination> parse_destination(std::string_view text);
// The same rules for what a configuration file gave.
[[nodiscard]] bool is_safe_host(std::string_view host);
[[nodiscard]] bool is_safe_user(std::string_view user);
// "user@host port 22"
[[nodiscard]] std::string to_text(const Destination& destination);

} // namespace remotemac::sync
