#pragma once
// The one error type of the project. An Error says what happened (code, message), what was being tried (contexts, innermost
// first) and what to do next (hint). Cheap to move; a class with constructors on purpose (GCC 12 coroutine defect, docs/contributing.md).
#include <string>
#include <string_view>
#include <vector>

namespace remotemac {

// code, kebab-case name, exit status, may a retry help?, meaning (documentation of the table), what to do next where the error itself does not say
#define RM_ERROR_CODES(X) \
  X(usage, "usage", 120, no, "the command line is wrong", "remotemac --help") \
  X(config, "config", 120, no, "a configuration file is wrong", "correct the line that is named, then run the command again") \
  X(project, "project", 120, no, "remotemac.toml or the project itself is not usable", "correct it, then look with: remotemac plan") \
  X(internal, "internal", 121, no, "a defect in remotemac", "please report it with this message and the output of: remotemac version") \
  X(deadline, "deadline", 124, yes, "something took longer than its deadline", "run the command again; look at the host with: remotemac doctor --host NAME") \
  X(io, "io", 125, yes, "reading or writing a local file failed", "see that the file is there and may be read or written, then run the command again") \
  X(disk_full, "disk-full", 125, yes, "no space left on the device", "free some space (df -h), then run the command again") \
  X(process, "process", 125, yes, "a helper program could not be run", "look at what is missing with: remotemac doctor") \
  X(unreachable, "unreachable", 125, yes, "the host could not be reached", "see that the machine is on and that ssh gets there, then run the command again") \
  X(authentication, "authentication", 125, no, "the host did not accept the login", "see that ssh gets in with the same user and key") \
  X(connection, "connection", 125, yes, "the connection broke", "run the command again: what the host has already is not sent twice") \
  X(shell_noise, "shell-noise", 125, no, "the remote shell printed too much before the daemon answered", "let the shell's start files there print nothing when nobody is at a terminal") \
  X(protocol, "protocol", 125, no, "the far side sent something that the protocol does not allow", "install the daemon there anew: remotemac host add NAME DESTINATION --replace") \
  X(protocol_mismatch, "protocol-mismatch", 125, no, "client and daemon have no protocol version in common", "install the daemon there anew: remotemac host add NAME DESTINATION --replace") \
  X(setup, "setup", 125, no, "the host could not be set up", "look at what is missing with: remotemac doctor") \
  X(environment, "environment", 125, no, "the Python environment of the job could not be made", "look at its log with: remotemac logs JOB") \
  X(corrupt, "corrupt", 125, no, "stored data do not match their digest or format", "run the command again; if it stays, put the named file aside and report it") \
  X(changed, "changed", 126, yes, "a file changed after it was judged", "run the command again: the file is judged anew") \
  X(host_key, "host-key", 126, no, "the host key is not the pinned one", "ask the provider for the key's fingerprint before anything else") \
  X(refused, "refused", 126, no, "the data policy refused", "look at the reasons with: remotemac plan") \
  X(remote_refused, "remote-refused", 126, no, "the daemon refused the request", "look at the jobs there with: remotemac jobs --host NAME") \
  X(no_job, "no-job", 127, no, "there is no such job", "the jobs are listed by: remotemac jobs") \
  X(no_host, "no-host", 127, no, "there is no such host", "the hosts are listed by: remotemac host list") \
  X(no_run, "no-run", 127, no, "there is no such run", "make one with: remotemac run") \
  X(interrupted, "interrupted", 130, no, "interrupted from the keyboard", "run the same command again when you want to go on")

enum class ErrorCode {
#define RM_X(id, name, status, retry, meaning, next) id,
  RM_ERROR_CODES(RM_X)
#undef RM_X
};

[[nodiscard]] std::string_view code_name(ErrorCode code);
[[nodiscard]] int exit_status(ErrorCode code);
enum class Retry { no, yes };
[[nodiscard]] Retry retry_helps(ErrorCode code);
[[nodiscard]] std::string_view code_meaning(ErrorCode code);
// What a person can do about it in general.
[[nodiscard]] std::string_view code_next(ErrorCode code);
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
  // What to do next: the hint, or what helps in general against errors of this code. Never empty.
  [[nodiscard]] std::string next() const { return m_hint.empty() ? std::string(code_next(m_code)) : m_hint; }
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
