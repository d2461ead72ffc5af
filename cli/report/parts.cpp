#include "cli/report/parts.h"

#include "cli/report/display.h"
#include "common/text.h"

#include <algorithm>
#include <array>

namespace remotemac::report {
namespace {
bool ends_phrase(std::string_view rest) {
  return rest.empty() || std::string_view(",;).:").find(rest.front()) != std::string_view::npos;
}

std::size_t word_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && std::string_view(" ,;)").find(text[length]) == std::string_view::npos)
    ++length;
  return length;
}

// Length of the command that begins with "remotemac ": its words, its options, and a last option's value.
std::size_t command_length(std::string_view text) {
  std::size_t end = std::string_view("remotemac ").size();
  const std::string_view verb = text.substr(end, word_length(text.substr(end)));
  end += verb.size();
  if (verb == "host" || verb == "audit") {
    const std::size_t length = end < text.size() && text[end] == ' ' ? word_length(text.substr(end + 1)) : 0;
    constexpr std::array<std::string_view, 5> k_second{"add", "list", "remove", "show", "verify"};
    for (const std::string_view second : k_second) {
      if (length != 0 && text.substr(end + 1, length) == second)
        end += 1 + second.size();
    }
  }
  while (text.substr(end, 3) == " --") {
    end += 1 + word_length(text.substr(end + 1));
    if (end >= text.size() || text[end] != ' ')
      break;
    const std::size_t length = word_length(text.substr(end + 1));
    if (text.substr(end + 1, 2) != "--" && ends_phrase(text.substr(end + 1 + length)))
      end += 1 + length;
  }
  return end;
}

bool is_command(std::string_view text) {
  constexpr std::array<std::string_view, 9> k_verbs{"audit", "doctor", "host",      "init", "jobs",
                                                    "logs",  "plan",   "reference", "run"};
  if (!text.starts_with("remotemac "))
    return false;
  const std::string_view rest = text.substr(10);
  const std::string_view verb = rest.substr(0, word_length(rest));
  return std::ranges::find(k_verbs, verb) != k_verbs.end();
}
} // namespace

Span said(std::string_view text, Tone tone) {
  return {tidy(text), tone, false};
}
Span code(std::string_view text) {
  return {tidy(text), Tone::plain, true};
}
Span words(std::string text, Tone tone) {
  return {std::move(text), tone, false};
}

Inline with_commands(std::string_view text) {
  const std::string clean = tidy(text, 1000);
  Inline out;
  std::size_t from = 0;
  for (std::size_t at = clean.find("remotemac "); at != std::string::npos; at = clean.find("remotemac ", at + 1)) {
    const std::string_view rest = std::string_view(clean).substr(at);
    if (at < from || (at != 0 && std::string_view(" (").find(clean[at - 1]) == std::string_view::npos) ||
        !is_command(rest))
      continue;
    const std::size_t length = command_length(rest);
    if (at > from)
      out.push_back(words(clean.substr(from, at - from)));
    out.push_back({clean.substr(at, length), Tone::plain, true});
    from = at + length;
  }
  if (from < clean.size())
    out.push_back(words(clean.substr(from)));
  return out;
}

Inline cell(std::string_view text, Tone tone) {
  std::string clean = tidy(text);
  return {clean.empty() ? words("-", Tone::faint) : words(std::move(clean), tone)};
}
Inline code_cell(std::string_view text) {
  Span span = code(text);
  return {span.text.empty() ? words("-", Tone::faint) : std::move(span)};
}
Inline number_cell(std::uint64_t value) {
  return {words(number(value), value == 0 ? Tone::faint : Tone::plain)};
}

Paragraph paragraph(Inline text) {
  return {std::move(text)};
}
Paragraph remark(std::string text) {
  return {{words(std::move(text), Tone::faint)}};
}

void add_rest(std::size_t total, std::size_t shown, std::string_view what, Document& out) {
  if (total > shown)
    out.push_back(remark("And " + number(total - shown) + " more " + std::string(what) + ": see the JSON report."));
}

std::string place_of(std::string_view file, int line) {
  const std::string name = tidy(file);
  return name.empty() || line <= 0 ? name : name + ":" + std::to_string(line);
}

std::string yes_no(const std::optional<bool>& value) {
  return !value ? "" : *value ? "yes" : "no";
}

namespace {
std::vector<const SimulatedMark*> marks(const Evidence& evidence) {
  std::vector<const SimulatedMark*> out;
  for (const auto* harness : {&evidence.backend, &evidence.strict, &evidence.permissive}) {
    if (*harness)
      out.push_back(&(*harness)->simulated);
  }
  for (const auto* worker : {&evidence.battery, &evidence.replay}) {
    if (*worker)
      out.push_back(&(*worker)->simulated);
  }
  return out;
}

bool ended_well(const HarnessDocument& run) {
  return run.outcome.status == OutcomeStatus::ok && !run.partial;
}
} // namespace

bool is_simulated(const Evidence& evidence) {
  for (const SimulatedMark* mark : marks(evidence)) {
    if (mark->value.value_or(false))
      return true;
  }
  return false;
}

std::string simulation_reason(const Evidence& evidence) {
  for (const SimulatedMark* mark : marks(evidence)) {
    if (mark->value.value_or(false) && !mark->reason.empty())
      return tidy(mark->reason);
  }
  return {};
}

const HarnessDocument* counted_run(const Evidence& evidence) {
  const HarnessDocument* strict = evidence.strict ? &*evidence.strict : nullptr;
  const HarnessDocument* permissive = evidence.permissive ? &*evidence.permissive : nullptr;
  if (strict == nullptr || (permissive != nullptr && !ended_well(*strict) && ended_well(*permissive)))
    return permissive;
  return strict;
}

const HarnessDocument* reference_run(const Evidence& evidence) {
  return evidence.reference && evidence.reference->run ? &*evidence.reference->run : nullptr;
}

std::string run_label(const Evidence& evidence, const HarnessDocument& run) {
  const bool strict = evidence.strict && &run == &*evidence.strict;
  const std::string device = tidy(run.device_requested, 40);
  if (&run == reference_run(evidence))
    return "reference" + (device.empty() ? "" : " (" + device + ")");
  return "host (" + (device.empty() ? "" : device + ", ") + (strict ? "strict" : "permissive") + ")";
}

Inline outcome_text(const HarnessDocument& run) {
  if (run.partial)
    return {words("ended before its document was finished", Tone::bad)};
  const Outcome& outcome = run.outcome;
  switch (outcome.status) {
  case OutcomeStatus::ok:
    return {words("ended well", Tone::good)};
  case OutcomeStatus::exit:
    return {words(outcome.exit_code ? "ended with exit status " + std::to_string(*outcome.exit_code) : "ended early",
                  Tone::bad)};
  case OutcomeStatus::not_run:
    return {words("was not run", Tone::warning)};
  case OutcomeStatus::exception:
    break;
  }
  if (!outcome.exception)
    return {words("ended with an exception", Tone::bad)};
  Inline out{words("ended with ", Tone::bad), said(outcome.exception->type, Tone::bad), words(": "),
             said(outcome.exception->message)};
  if (const std::string place = place_of(outcome.exception->file, outcome.exception->line); !place.empty()) {
    out.push_back(words(" at "));
    out.push_back(code(place));
  }
  return out;
}

} // namespace remotemac::report
