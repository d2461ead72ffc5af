#include "cli/output.h"

#include "common/json.h"
#include "common/text.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace remotemac::cli {
namespace {
bool wants_colour(Colour colour, int fd) {
  if (colour != Colour::automatic)
    return colour == Colour::always;
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr && term != nullptr && std::string_view(term) != "dumb";
}

const char* code_of(Tone tone) {
  switch (tone) {
  case Tone::good: return "32";
  case Tone::warning: return "33";
  case Tone::bad: return "31";
  case Tone::faint: return "2";
  case Tone::strong: return "1";
  case Tone::plain: break;
  }
  return nullptr;
}

std::string painted(std::string_view text, Tone tone, bool on) {
  const char* code = code_of(tone);
  if (!on || code == nullptr)
    return std::string(text);
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

int columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 100;
}
} // namespace

nlohmann::json error_json(const Error& error) {
  return {{"error", {{"code", code_name(error.code())}, {"message", error.chain()}, {"hint", error.next()}, {"exit_status", exit_status(error.code())}}}};
}

Output::Output(OutputForm form, Colour colour)
    : m_form(form), m_colour_stdout(form == OutputForm::people && wants_colour(colour, STDOUT_FILENO)), m_colour_stderr(wants_colour(colour, STDERR_FILENO)),
      m_stderr_terminal(::isatty(STDERR_FILENO) == 1), m_stdin_terminal(::isatty(STDIN_FILENO) == 1) {}

void Output::set_colour(Colour colour) {
  m_colour_stdout = m_form == OutputForm::people && wants_colour(colour, STDOUT_FILENO);
  m_colour_stderr = wants_colour(colour, STDERR_FILENO);
}

int Output::width() const { return columns_of(STDOUT_FILENO); }

Result<void> Output::finish() {
  std::cout.flush();
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  const bool reader_left = ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
  if (!std::cout && !reader_left)
    return Error(ErrorCode::io, "standard output did not take everything that was to be printed", "see where it goes (a full disk?), then run the command again");
  return ok();
}

void Output::line(std::string_view text) {
  if (m_form == OutputForm::people)
    std::cout << text << "\n" << std::flush;
}

void Output::json(const nlohmann::json& value) {
  if (m_form == OutputForm::json)
    std::cout << dump_json(value, 2) << "\n" << std::flush;
}

void Output::note(std::string_view text) {
  const std::lock_guard lock(m_mutex);
  if (m_line_open)
    std::cerr << "\r\x1b[K";
  std::cerr << text << "\n" << std::flush;
}

void Output::warn(std::string_view text) { note(painted("warning: ", Tone::warning, m_colour_stderr) + std::string(text)); }

void Output::fail(const Error& error) {
  if (m_line_open)
    phase_done("broke off");
  json(error_json(error));
  note(painted("error: ", Tone::bad, m_colour_stderr) + error.chain() + painted(" [" + std::string(code_name(error.code())) + "]", Tone::faint, m_colour_stderr));
  note(painted("  try: ", Tone::strong, m_colour_stderr) + clean_text(error.next()));
}

std::string Output::paint(std::string_view text, Tone tone) const { return painted(text, tone, m_colour_stdout); }

void Output::show(std::string_view text, bool last) {
  if (m_form == OutputForm::json && !m_stderr_terminal)
    return;
  if (m_stderr_terminal) {
    std::string fitted(text);
    auto columns = static_cast<std::size_t>(columns_of(STDERR_FILENO) - 1);
    if (!last && fitted.size() > columns) {
      while (columns > 0 && (static_cast<unsigned char>(fitted[columns]) & 0xC0) == 0x80) // never within a character
        --columns;
      fitted.resize(columns);
    }
    std::cerr << "\r\x1b[K" << fitted << (last ? "\n" : "") << std::flush;
    m_line_open = !last;
  } else if (last) {
    std::cerr << text << "\n" << std::flush;
  }
}

void Output::phase(std::string_view name, std::string_view text) {
  const std::lock_guard lock(m_mutex);
  char label[40];
  std::snprintf(label, sizeof label, "%-11s ", std::string(name).c_str());
  m_phase = label;
  m_phase_began = std::chrono::steady_clock::now();
  m_shown = m_phase_began;
  show(m_phase + std::string(text), false);
}

void Output::phase_progress(std::uint64_t done, std::uint64_t total, std::string_view unit) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(m_mutex);
    if (now - m_shown < std::chrono::milliseconds(100))
      return;
    m_shown = now;
  }
  const double seconds = std::chrono::duration<double>(now - m_phase_began).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text;
  if (unit == "B")
    text = human_bytes(done) + " of " + human_bytes(total) + "  " + human_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  else
    text = std::to_string(done) + " of " + std::to_string(total) + " " + std::string(unit) + "  " + std::to_string(static_cast<std::uint64_t>(rate)) + "/s";
  if (rate > 0 && done < total && seconds > 0.5)
    text += "  about " + human_seconds(static_cast<double>(total - done) / rate) + " left";
  const std::lock_guard lock(m_mutex);
  show(m_phase + text, false);
}

void Output::phase_text(std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(m_mutex);
  if (now - m_shown < std::chrono::milliseconds(100))
    return;
  m_shown = now;
  show(m_phase + std::string(text) + "  " + human_seconds(std::chrono::duration<double>(now - m_phase_began).count()), false);
}

void Output::phase_done(std::string_view text) {
  const std::lock_guard lock(m_mutex);
  if (m_phase.empty())
    return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_phase_began).count();
  show(m_phase + std::string(text) + "  (" + human_seconds(seconds) + ")", true);
  m_phase.clear();
}

Result<std::string> Output::ask(std::string_view question, std::string_view flag) {
  if (!m_stdin_terminal || m_form == OutputForm::json)
    return Error(ErrorCode::usage, "this needs an answer, and there is no terminal to ask on: " + std::string(question), "give it by flag: " + std::string(flag));
  std::cerr << question << " " << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer))
    return Error(ErrorCode::interrupted, "no answer was given", "run the command again, or give it by flag: " + std::string(flag));
  return std::string(trim(answer));
}

std::optional<std::string> Output::ask_secret(std::string_view question, bool show) {
  std::cerr << question << " " << std::flush;
  termios before{};
  const bool quiet = !show && ::tcgetattr(STDIN_FILENO, &before) == 0;
  if (quiet) {
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  std::string answer;
  const bool given = static_cast<bool>(std::getline(std::cin, answer));
  if (quiet) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    std::cerr << "\n";
  }
  return given ? std::optional(answer) : std::nullopt;
}

} // namespace remotemac::cli
