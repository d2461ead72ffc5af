#pragma once
// RelPath: a relative path that is safe to hand to either side. Valid UTF-8, '/' separated, no empty, "." or ".." part, no NUL,
// control or bidi character, parts <= 255 bytes, whole <= 1024 bytes. Not a promise that the file exists.
#include "common/result.h"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

class RelPath {
public:
  [[nodiscard]] static Result<RelPath> create(std::string_view text);
  [[nodiscard]] const std::string& text() const { return m_text; }
  [[nodiscard]] std::vector<std::string> parts() const;
  [[nodiscard]] std::string name() const; // last part
  // Equal for two paths that a folding file system (APFS: case and normalisation insensitive) would make one.
  [[nodiscard]] std::string collision_key() const;
  auto operator<=>(const RelPath&) const = default;

private:
  explicit RelPath(std::string text) : m_text(std::move(text)) {}
  std::string m_text;
};

} // namespace remotemac
