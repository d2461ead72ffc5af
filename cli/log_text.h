#pragma once
// A log stream that arrives in parts, as text for a terminal: cleaned like clean_text() of the whole stream, wherever the parts were cut.
// A UTF-8 sequence that is not complete at the end of a part waits for the next one.
#include <string>
#include <string_view>

namespace remotemac::cli {

class LogText {
public:
  [[nodiscard]] std::string add(std::string_view part);
  // Nothing follows: what still waits is broken and becomes a replacement character.
  [[nodiscard]] std::string end();
  [[nodiscard]] std::size_t waiting() const { return m_rest.size(); } // bytes, at most 3

private:
  std::string m_rest;
};

} // namespace remotemac::cli
