#pragma once
// Shows a verdict and the evidence under it to a person (terminal, Markdown) and to programs (JSON). Judges nothing:
// what is here stands in the verdict or in the evidence. Pure functions, no I/O, safe from any thread; they do not
// fail. All texts of the evidence count as foreign: control, bidi and invisible characters never get through, long ones
// are shortened (not in the JSON).
#include "cli/verdict/verdict.h"
#include "common/evidence.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace remotemac::report {

struct TextStyle {
  int width = 100;     // columns; taken into 60..120
  bool colour = false; // SGR sequences; false: not one escape character
};

// Ends without a newline: the caller prints a line.
[[nodiscard]] std::string to_text(const Evidence& evidence, const verdict::Verdict& verdict, const TextStyle& style);
// CommonMark with the tables of GitHub.
[[nodiscard]] std::string to_markdown(const Evidence& evidence, const verdict::Verdict& verdict);
// {format: "remotemac-report", version: 1, run, project, simulated, verdict, evidence}. A run without a verdict has
// `class` null.
[[nodiscard]] nlohmann::json to_json(const Evidence& evidence, const verdict::Verdict& verdict);

} // namespace remotemac::report
