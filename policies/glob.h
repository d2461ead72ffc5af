#pragma once
// Patterns over project paths. They propose files, they never decide. Anchored at the project root: `*` and `?` stay within one part,
// `**` as a whole part stands for any number of parts, `[a-z]` and `[!a-z]` are sets of ASCII characters. A pattern that ends in '/'
// means everything below. Matching is exact (no case folding, no normalisation) where patterns propose; where they hold back, see covers().
#include "common/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace remotemac::policies {

class Glob {
public:
  // Error config (without place; the caller adds it) for an absolute pattern, "..", an empty part, an unclosed set.
  [[nodiscard]] static Result<Glob> create(std::string_view pattern);
  [[nodiscard]] bool matches(std::string_view path) const;
  // For patterns that hold files back (exclude, rules), which must not fail by a trifle: as matches(), but also in another Unicode form
  // (names from a Mac are often decomposed), and a plain name at the end ("data/private") means what lies below it, too.
  [[nodiscard]] bool covers(std::string_view path) const;
  // Can anything below this folder match? Lets the walk skip folders of no interest.
  [[nodiscard]] bool may_match_below(std::string_view folder) const;
  [[nodiscard]] const std::string& text() const { return m_text; }

private:
  std::string m_text;
  std::vector<std::string> m_parts;
  std::vector<std::string> m_composed; // m_parts in Unicode form C
};

} // namespace remotemac::policies
