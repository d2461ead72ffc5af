#pragma once
// The one error type of the project. An Error says what happened (code, message), what was being tried (contexts, innermost
// first) and what to do next (hint). Cheap to move; a class with constructors on purpose (GCC 12 coroutine defect, docs/contributing.md).
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

// code, kebab-case name, exit status, may a retry help?, meaning (documentation of the table)
#define RM_ERROR_CODES(X)                                                                                              \
  X(usage, "usage", 120, no, "the command line is wrong")                                                             \
  X(config, "config", 120, no, "a configuration file is wrong")                                                       \
  X(project, "project", 120, no, "remotemac.toml or the project itself is not usable")                                \
  X(internal, "internal", 121, no, "a defect in remotemac")                                                           \
  X(deadline, "deadline", 124, yes, "something took longer than its deadline")                                        \
  X(io, "io", 125, yes, "reading or writing a local file failed")                                                     \
  X(disk_full, "disk-full", 125, yes, "no space left on the device")                                                  \
  X(process, "process", 125, yes, "a helper program could not be run")                                                \
  X(unreachable, "unreachable", 125, yes, "the host could not be reached")                                            \
  X(authentication, "authentication", 125, no, "the host did not accept the login")                                   \
  X(connection, "connection", 125, yes, "the connection broke")                                                       \
  X(shell_noise, "shell-noise", 125, no, "the remote shell printed too much before the daemon answered")              \
  X(protocol, "protocol", 125, no, "the far side sent something that the protocol does not allow")                    \
  X(protocol_mismatch, "protocol-mismatch", 125, no, "client and daemon have no protocol version in common")          \
  X(setup, "setup", 125, no, "the host could not be set up")                                                          \
  X(environment, "environment", 125, no, "the Python environment of the job could not be made")                       \
  X(corrupt, "corrupt", 125, no, "stored data do not match their digest or format")                                   \
  X(changed, "changed", 126, yes, "a file changed after it was judged")                                               \
  X(host_key, "host-key", 126, no, "the host key is not the pinned one")                                              \
  X(refused, "refused", 126, no, "the data policy refused")                                                           \
  X(remote_refused, "remote-refused", 126, no, "the daemon refused the request")                                      \
  X(no_job, "no-job", 127, no, "there is no such job")                                                                \
  X(no_host, "no-host", 127, no, "there is no such host")                                                             \
  X(no_run, "no-run", 127, no, "there is no such run")                                                                \
  X(interrupted, "interrupted", 130, no, "interrupted from the keyboard")

enum class ErrorCode {
#define RM_X(id, name, status, retry, meaning) id,
  RM_ERROR_CODES(RM_X)
#undef RM_X
};

[[nodiscard]] std::string_view code_name(ErrorCode code);
[[nodiscard]] int exit_status(ErrorCode code);
enum class Retry { no, yes };
[[nodiscard]] Retry retry_helps(ErrorCode code);
[[nodiscard]] std::string_view code_meaning(ErrorCode code);
// internal when the name is not known (a newer daemon may send new codes).
[[nodiscard]] ErrorCode code_from_name(std::string_view name);
[[nodiscard]] const std::vector<ErrorCode>& all_error_codes();

class Error {
public:
  Error(ErrorCode code, std::string message, std::string hint = {})
      : m_code(code), m_message(std::move(message)), m_hint(std::move(hint)) {}

  [[nodiscard]] ErrorCode code() const { return m_code; }
  [[nodiscard]] const std::string& message() const { return m_message; }
  [[nodiscard]] const std::string& hint() const { return m_hint; }
  [[nodiscard]] const std::vector<std::string>& contexts() const { return m_contexts; }

  // What the caller was trying to do, for example "uploading src/a.py". Returns *this to allow `return std::move(e).while_(...)`.
  Error& while_trying(std::string what) & {
    m_contexts.push_back(std::move(what));
    return *this;
  }
  Error&& while_trying(std::string what) && {
    m_contexts.push_back(std::move(what));
    return std::move(*this);
  }
  Error& set_hint(std::string hint) & {
    m_hint = std::move(hint);
    return *this;
  }
  // "outer: inner: message", one line, control characters already removed.
  [[nodiscard]] std::string chain() const;

private:
  ErrorCode m_code;
  std::string m_message;
  std::string m_hint;
  std::vector<std::string> m_contexts;
};

// Error from errno, for example io_error(ErrorCode::io, "cannot open remotemac.toml", errno). ENOSPC and EDQUOT become disk_full.
[[nodiscard]] Error io_error(std::string what, int error_number);

} // namespace remotemac
