#include "cli/survey/python_sources.h"

#include "cli/survey/embedded.h"
#include "cli/survey/project_files.h"
#include "common/json.h"
#include "common/text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace remotemac::survey {
namespace {
using nlohmann::json;
constexpr std::chrono::milliseconds k_deadline{120'000};
constexpr std::size_t k_batch = 200;      // files per process: bounds the output that is held at once
constexpr int k_max_failures = 5;         // of the parser, over the whole project
constexpr std::size_t k_max_text = 4096;  // of any name in the answer

std::string text_of(const json& row, std::string_view key) { return clean_line(json_text(row, key), k_max_text); }
int line_of(const json& row) { return static_cast<int>(std::clamp<std::int64_t>(json_int(row, "line"), 0, 10'000'000)); }

// The elements of an array member; an empty array when it is none.
const json& rows(const json& object, std::string_view key) {
  static const json k_none = json::array();
  const json& value = json_at(object, key);
  return value.is_array() ? value : k_none;
}

ImportRow import_row(const json& row) {
  ImportRow out;
  out.module = text_of(row, "module");
  for (const json& name : rows(row, "names"))
    if (name.is_string())
      out.names.push_back(clean_line(name.get<std::string>(), k_max_text));
  out.level = static_cast<int>(std::clamp<std::int64_t>(json_int(row, "level"), 0, 100));
  out.line = line_of(row);
  out.how = text_of(row, "how");
  out.top = text_of(row, "top");
  out.standard = json_flag(row, "std");
  return out;
}

SourceFile source_file(const json& value, const std::string& path, std::vector<SurveyGap>& gaps) {
  SourceFile out;
  out.path = path;
  out.error = text_of(value, "error");
  out.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(json_int(value, "bytes"), 0));
  for (const json& row : rows(value, "imports"))
    out.imports.push_back(import_row(row));
  for (const json& row : rows(value, "signals"))
    out.signals.push_back({text_of(row, "id"), line_of(row), text_of(row, "construct"), json_flag(row, "guarded"), text_of(row, "top")});
  for (const json& row : rows(value, "requires"))
    out.requires_rows.push_back({json_text(row, "text"), text_of(row, "group"), text_of(row, "computed"), line_of(row)});
  for (const json& row : rows(value, "dynamic"))
    out.dynamic.emplace_back(line_of(row), text_of(row, "call"));
  for (const json& name : rows(value, "mentions"))
    if (name.is_string())
      out.mentions.insert(name.get<std::string>());
  if (json_flag(value, "cut"))
    gaps.push_back({path, "has more findings of one kind than are kept; the later ones are left out"});
  return out;
}

ProcessSpec spec_for(const std::filesystem::path& root, const std::vector<std::string>& files) {
  ProcessSpec spec;
  spec.argv = {"python3", "-I", "-S", "-B", "-c", std::string(embedded::parse_sources_py)};
  spec.folder = "/"; // never the project: nothing of it can be found by import
  json request = {{"root", std::filesystem::absolute(root).string()}, {"files", files}, {"max_bytes", k_max_source_bytes}};
  spec.input = dump_json(request, -1);
  spec.deadline = k_deadline;
  spec.max_output_bytes = std::size_t{128} << 20;
  return spec;
}

// Takes what one process wrote; returns how many of `files` it answered for.
std::size_t take_output(const std::string& text, const std::vector<std::string>& files, Sources& out) {
  std::size_t done = 0;
  std::size_t begin = 0;
  bool first = true;
  while (done < files.size() || first) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos)
      break;
    Result<json> line = parse_json(std::string_view(text).substr(begin, end - begin), "the parser's answer");
    begin = end + 1;
    if (first) {
      first = false;
      if (!line || !line->is_object() || json_text(*line, "python").empty())
        break;
      out.python_version = text_of(*line, "python");
      continue;
    }
    if (line && line->is_object() && json_text(*line, "file") == files[done]) {
      out.files.push_back(source_file(*line, files[done], out.gaps));
    } else {
      SourceFile broken;
      broken.path = files[done];
      broken.error = "the parser gave an answer that cannot be read";
      out.files.push_back(std::move(broken));
    }
    ++done;
  }
  return done;
}

std::string how_it_ended(const Result<ProcessResult>& result) {
  if (!result)
    return clean_line(result.error().message(), 300);
  if (result->signal != 0)
    return "the parser was ended by signal " + std::to_string(result->signal);
  if (result->truncated)
    return "the parser wrote too much";
  return "the parser ended with status " + std::to_string(result->exit_code) + ": " + clean_line(result->err, 300);
}
} // namespace

Sources parse_sources(const std::filesystem::path& root, const std::vector<std::string>& files, ProcessRunner& runner) {
  Sources out;
  int failures = 0;
  for (std::size_t begin = 0; begin < files.size();) {
    const auto first = files.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<std::string> batch(first, first + static_cast<std::ptrdiff_t>(std::min(k_batch, files.size() - begin)));
    Result<ProcessResult> result = runner.run(spec_for(root, batch));
    const std::size_t done = result ? take_output(result->out, batch, out) : 0;
    begin += done;
    if (done == batch.size())
      continue;
    const std::string reason = how_it_ended(result);
    // No version line: there is no usable interpreter, and a second try would tell nothing new. So with a deadline, whose output is lost.
    const bool hopeless = out.python_version.empty() || !result || ++failures > k_max_failures;
    if (hopeless) {
      out.gaps.push_back({"Python sources", std::to_string(files.size() - begin) + " of " + std::to_string(files.size()) + " not read: " + reason +
                                             ". Check that python3 runs on this machine"});
      break;
    }
    SourceFile culprit;
    culprit.path = files[begin++];
    culprit.error = reason;
    out.files.push_back(std::move(culprit));
  }
  for (const SourceFile& file : out.files)
    if (!file.error.empty())
      out.gaps.push_back({file.path, file.error});
  return out;
}

} // namespace remotemac::survey
