#include "sync/ssh/destination.h"

#include "common/text.h"

#include <algorithm>
#include <charconv>

namespace remotemac::sync {
namespace {
bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool only(std::string_view text, std::string_view extra) {
  return std::all_of(text.begin(), text.end(), [&](char c) { return is_alnum(c) || extra.find(c) != std::string_view::npos; });
}

Error wrong(std::string_view text, const std::string& why) {
  return Error(ErrorCode::usage, "'" + clean_line(text, 300) + "' is not a destination: " + why,
               "write it as user@host, user@host:port, ssh://user@host:port, or as a name from ~/.ssh/config");
}

Result<int> parse_port(std::string_view whole, std::string_view text) {
  int port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
    return wrong(whole, "the port is not a number from 1 to 65535");
  return port;
}
} // namespace

bool is_safe_host(std::string_view host) {
  return !host.empty() && host.size() <= 255 && host.front() != '-' && only(host, "._-:%");
}

// '\\' is left out although some directories use it (DOMAIN\user): a shell behind a ProxyCommand would read it.
bool is_safe_user(std::string_view user) {
  return !user.empty() && user.size() <= 128 && user.front() != '-' && only(user, "._-+@");
}

Result<Destination> parse_destination(std::string_view text) {
  const std::string_view whole = text;
  if (text.starts_with("ssh://")) {
    text.remove_prefix(6);
    if (text.ends_with('/'))
      text.remove_suffix(1);
  }
  Destination out;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    out.user = std::string(text.substr(0, at));
    text.remove_prefix(at + 1);
    if (!is_safe_user(out.user))
      return wrong(whole, "the user name is empty, starts with '-' or holds a character that is not allowed");
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos)
      return wrong(whole, "the ']' of the address is missing");
    out.host = std::string(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    if (!text.empty() && !text.starts_with(':'))
      return wrong(whole, "after ']' only ':port' may follow");
    port = text.empty() ? text : text.substr(1);
    if (!text.empty() && port.empty())
      return wrong(whole, "the port is missing after ':'");
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    out.host = std::string(text.substr(0, colon));
    port = text.substr(colon + 1);
    if (port.empty())
      return wrong(whole, "the port is missing after ':'");
  } else {
    out.host = std::string(text); // no colon, or a bare IPv6 address
  }
  if (!is_safe_host(out.host))
    return wrong(whole, "the host name is empty, starts with '-' or holds a character that is not allowed");
  if (!port.empty()) {
    RM_ASSIGN(out.port, parse_port(whole, port));
  }
  return out;
}

std::string to_text(const Destination& destination) {
  std::string out = destination.user.empty() ? destination.host : destination.user + "@" + destination.host;
  return destination.port == 0 ? out : out + " port " + std::to_string(destination.port);
}

} // namespace remotemac::sync
