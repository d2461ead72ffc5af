#include "common/rel_path.h"

#include "common/text.h"

#include <cstdlib>
#include <utf8proc.h>

namespace remotemac {

Result<RelPath> RelPath::create(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::refused, "the path '" + clean_line(text, 200) + "' " + why);
  };
  if (text.empty())
    return refuse("is empty");
  if (text.size() > 1024)
    return refuse("is longer than 1024 bytes");
  if (!is_valid_utf8(text))
    return refuse("is not valid UTF-8");
  if (clean_line(text, text.size()) != text)
    return refuse("contains control or direction characters");
  if (text.front() == '/')
    return refuse("is absolute");
  for (const std::string& part : split(text, '/')) {
    if (part.empty() || part == "." || part == "..")
      return refuse("has an empty, '.' or '..' part");
    if (part.size() > 255)
      return refuse("has a part longer than 255 bytes");
  }
  return RelPath(std::string(text));
}

std::vector<std::string> RelPath::parts() const { return split(m_text, '/'); }

std::string RelPath::name() const { return m_text.substr(m_text.rfind('/') + 1); }

std::string RelPath::collision_key() const {
  utf8proc_uint8_t* folded = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(m_text.data()),
                                   static_cast<utf8proc_ssize_t>(m_text.size()), &folded, options);
  if (length < 0)
    return m_text;
  std::string out(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(length));
  std::free(folded);
  return out;
}

} // namespace remotemac
