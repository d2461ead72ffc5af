#include "common/error.h"

#include "common/text.h"

#include <cerrno>
#include <system_error>

namespace remotemac {
namespace {
constexpr Retry no = Retry::no;
constexpr Retry yes = Retry::yes;

struct Row {
  ErrorCode code;
  std::string_view name;
  int status;
  Retry retry;
  std::string_view meaning;
  std::string_view next;
};

constexpr Row k_rows[] = {
#define RM_X(id, name, status, retry, meaning, next) {ErrorCode::id, name, status, retry, meaning, next},
    RM_ERROR_CODES(RM_X)
#undef RM_X
};

const Row& row(ErrorCode code) { return k_rows[static_cast<std::size_t>(code)]; }
} // namespace

std::string_view code_name(ErrorCode code) { return row(code).name; }
int exit_status(ErrorCode code) { return row(code).status; }
Retry retry_helps(ErrorCode code) { return row(code).retry; }
std::string_view code_meaning(ErrorCode code) { return row(code).meaning; }
std::string_view code_next(ErrorCode code) { return row(code).next; }

ErrorCode code_from_name(std::string_view name) {
  for (const Row& each : k_rows) {
    if (each.name == name)
      return each.code;
  }
  return ErrorCode::internal;
}

const std::vector<ErrorCode>& all_error_codes() {
  static const std::vector<ErrorCode> codes = [] {
    std::vector<ErrorCode> out;
    for (const Row& each : k_rows)
      out.push_back(each.code);
    return out;
  }();
  return codes;
}

std::string Error::chain() const {
  std::string out;
  for (auto it = m_contexts.rbegin(); it != m_contexts.rend(); ++it)
    out += *it + ": ";
  return clean_line(out + m_message);
}

Error io_error(std::string what, int error_number) {
  const std::string reason = std::generic_category().message(error_number);
  if (error_number == ENOSPC || error_number == EDQUOT)
    return Error(ErrorCode::disk_full, what + ": " + reason, "free some space (df -h) and run the command again; nothing half-written was kept");
  return Error(ErrorCode::io, std::move(what) + ": " + reason);
}

} // namespace remotemac
