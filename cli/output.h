#pragma once
// What people (stdout: results, stderr: progress and messages) and scripts (--json: one object on stdout) get to see. Not a logger.
// Everything that came from elsewhere must be cleaned by the caller (common/text.h) before it is printed here. Thread-safe for progress.
#include "common/result.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace remotemac::cli {

enum class OutputForm { people, json };
enum class Colour { never, automatic, always };
// What --json prints instead of a result.
[[nodiscard]] nlohmann::json error_json(const Error& error);

enum class Tone { plain, good, warning, bad, faint, strong };

class Output {
public:
  Output(OutputForm form, Colour colour);
  void set_colour(Colour colour); // once the settings are read

  [[nodiscard]] bool is_json() const { return m_form == OutputForm::json; }
  [[nodiscard]] bool colour_on_stdout() const { return m_colour_stdout; }
  [[nodiscard]] bool stdin_is_terminal() const { return m_stdin_terminal; }
  [[nodiscard]] int width() const; // columns of the terminal on stdout, 100 when unknown

  void line(std::string_view text = {});           // stdout; nothing under --json
  void json(const nlohmann::json& value);          // stdout; nothing unless --json
  void note(std::string_view text);                // stderr
  void warn(std::string_view text);                // stderr, "warning: "
  void fail(const Error& error);                   // stderr for people; an object on stdout under --json
  [[nodiscard]] std::string paint(std::string_view text, Tone tone) const; // colour only where stdout is a terminal

  // One phase of long work: "sync  1 204 of 20 000 files  31.0 MB  12.4 MB/s  about 3 s left". On a terminal the line is rewritten (at
  // most ten times a second), elsewhere only its end is printed. phase_done() leaves one line.
  void phase(std::string_view name, std::string_view text);
  void phase_progress(std::uint64_t done, std::uint64_t total, std::string_view unit);
  void phase_text(std::string_view text);
  void phase_done(std::string_view text);

  // What was printed has arrived: error io when standard output did not take all of it (a full disk). A reader that has seen enough and
  // left (head, a pager) is none.
  [[nodiscard]] Result<void> finish();

  // Asks on the terminal; error usage when there is none (`flag` says what to give instead).
  [[nodiscard]] Result<std::string> ask(std::string_view question, std::string_view flag);
  // A passphrase or password: not shown while it is typed unless `show` says so; nullopt when the person gave up. Terminal only.
  [[nodiscard]] std::optional<std::string> ask_secret(std::string_view question, bool show);

private:
  void show(std::string_view text, bool last);
  OutputForm m_form;
  bool m_colour_stdout;
  bool m_colour_stderr;
  bool m_stderr_terminal;
  bool m_stdin_terminal;
  std::mutex m_mutex;
  std::string m_phase;
  bool m_line_open = false;
  std::chrono::steady_clock::time_point m_phase_began;
  std::chrono::steady_clock::time_point m_shown;
};

} // namespace remotemac::cli
