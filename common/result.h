#pragma once
// Result<T>: a value or an Error, never silently dropped ([[nodiscard]]). The macros are always of the declare-and-test form,
// which GCC 12 compiles correctly inside coroutines too (RM_CO_*).
#include "common/error.h"

#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace remotemac {

template <typename T> class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
  using tl::expected<T, Error>::expected;
  Result(Error error) : tl::expected<T, Error>(tl::unexpected<Error>(std::move(error))) {}

  // The error with one more context; call only on a failed result.
  [[nodiscard]] Error error_while(std::string what) && { return std::move(this->error()).while_trying(std::move(what)); }
};

[[nodiscard]] inline Result<void> ok() { return {}; }

} // namespace remotemac

#define RM_CONCAT_INNER(a, b) a##b
#define RM_CONCAT(a, b) RM_CONCAT_INNER(a, b)

// RM_TRY(expression): leaves the function with the error of a failed Result<...>.
#define RM_TRY(...)                                                                                                    \
  do {                                                                                                                 \
    auto rm_try_result = (__VA_ARGS__);                                                                                \
    if (!rm_try_result)                                                                                                \
      return std::move(rm_try_result).error();                                                                         \
  } while (false)
#define RM_TRY_WHILE(what, ...)                                                                                        \
  do {                                                                                                                 \
    auto rm_try_result = (__VA_ARGS__);                                                                                \
    if (!rm_try_result)                                                                                                \
      return std::move(rm_try_result).error_while(what);                                                               \
  } while (false)
// RM_ASSIGN(auto x, expression): declares x from a successful result, else leaves with its error.
#define RM_ASSIGN(target, ...) RM_ASSIGN_INNER(RM_CONCAT(rm_result_, __COUNTER__), target, __VA_ARGS__)
#define RM_ASSIGN_INNER(name, target, ...)                                                                             \
  auto name = (__VA_ARGS__);                                                                                           \
  if (!name)                                                                                                           \
    return std::move(name).error();                                                                                    \
  target = std::move(*name)
#define RM_ASSIGN_WHILE(what, target, ...) RM_ASSIGN_WHILE_INNER(RM_CONCAT(rm_result_, __COUNTER__), what, target, __VA_ARGS__)
#define RM_ASSIGN_WHILE_INNER(name, what, target, ...)                                                                 \
  auto name = (__VA_ARGS__);                                                                                           \
  if (!name)                                                                                                           \
    return std::move(name).error_while(what);                                                                          \
  target = std::move(*name)
// The same for coroutines returning Task<...>: RM_CO_ASSIGN(auto x, co_await y) with everything named beforehand.
#define RM_CO_TRY(...)                                                                                                 \
  do {                                                                                                                 \
    auto rm_try_result = (__VA_ARGS__);                                                                                \
    if (!rm_try_result)                                                                                                \
      co_return std::move(rm_try_result).error();                                                                      \
  } while (false)
#define RM_CO_ASSIGN(target, ...) RM_CO_ASSIGN_INNER(RM_CONCAT(rm_result_, __COUNTER__), target, __VA_ARGS__)
#define RM_CO_ASSIGN_INNER(name, target, ...)                                                                          \
  auto name = (__VA_ARGS__);                                                                                           \
  if (!name)                                                                                                           \
    co_return std::move(name).error();                                                                                 \
  target = std::move(*name)
