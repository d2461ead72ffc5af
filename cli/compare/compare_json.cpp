#include "cli/compare/differences.h"
#include "cli/compare/readers.h"
#include "common/json.h"
#include "common/text.h"

#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace remotemac::compare {
namespace {
using nlohmann::json;

// Python writes NaN, Infinity and -Infinity, which JSON does not know. A loss that became NaN is exactly what must be seen,
// so they
// become these strings before parsing.
constexpr std::string_view k_special = "\\u0001remotemac-number:"; // as written in JSON
constexpr std::string_view k_special_text = "\x01remotemac-number:"; // after parsing

std::string with_special_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string || c == '"') {
      out.push_back(c);
      if (c == '\\' && i + 1 < text.size())
        out.push_back(text[++i]);
      else if (c == '"')
        in_string = !in_string;
      continue;
    }
    bool found = false;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (text.substr(i, word.size()) != word)
        continue;
      out.append("\"").append(k_special).append(word).append("\"");
      i += word.size() - 1;
      found = true;
      break;
    }
    if (!found)
      out.push_back(c);
  }
  return out;
}

std::optional<double> number_of(const json& value) {
  if (value.is_number())
    return value.get<double>();
  if (!value.is_string() || !value.get_ref<const std::string&>().starts_with(k_special_text))
    return std::nullopt;
  const std::string_view word = std::string_view(value.get_ref<const std::string&>()).substr(k_special_text.size());
  const double infinity = std::numeric_limits<double>::infinity();
  return word == "NaN" ? std::numeric_limits<double>::quiet_NaN() : word == "Infinity" ? infinity : -infinity;
}

std::string_view type_of(const json& value) {
  if (number_of(value))
    return "number";
  return value.is_object() ? "object" : value.is_array() ? "array" : value.is_string() ? "string" : value.is_boolean()
      ? "bool" : "null";
}

// "epochSeconds", "train_time", "step-time-s" -> lower-case words.
std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto c = static_cast<unsigned char>(key[i]);
    const bool hump = i > 0 && std::isupper(c) && std::islower(static_cast<unsigned char>(key[i - 1]));
    if ((!std::isalnum(c) || hump) && !out.back().empty())
      out.emplace_back();
    if (std::isalnum(c))
      out.back().push_back(static_cast<char>(std::tolower(c)));
  }
  if (out.back().empty())
    out.pop_back();
  return out;
}

// Only where the word says it plainly: "time_steps" is no time, "step_time" and "time_per_step" are.
bool is_timing(std::string_view key) {
  static const std::set<std::string> k_anywhere = {"seconds", "duration", "durations", "elapsed", "timestamp", "walltime",
      "runtime"};
  static const std::set<std::string> k_last = {"time", "times", "s", "ms", "second", "milliseconds", "timing", "timings"};
  const std::vector<std::string> words = words_of(key);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size() || words[i + 1] == "per";
    // A lone "s" is a name like any other (a singular value); "wall_s" is not.
    if (k_anywhere.contains(words[i]) || (last && k_last.contains(words[i]) && (words.size() > 1 || words[i].size() > 2)))
      return true;
  }
  return false;
}

bool is_device_name(const json& value) {
  if (!value.is_string())
    return false;
  const std::string& text = value.get_ref<const std::string&>();
  const std::string_view name = std::string_view(text).substr(0, text.find(':'));
  return name == "cpu" || name == "cuda" || name == "mps";
}

std::string quoted(const json& value) { return clean_line(dump_json(value, -1), 60); }

class Walk {
public:
  Walk(const FilePair& files, Collector& out) : m_files(files), m_out(out) {}

  void go(const json& run, const json& reference, const std::string& path) {
    const std::string_view type = type_of(run);
    if (type != type_of(reference))
      return different_types(run, reference, path);
    if (type == "object")
      return objects(run, reference, path);
    if (type == "array")
      return arrays(run, reference, path);
    if (type == "number")
      return numbers(run, reference, path);
    exact(run, reference, path, type);
  }

private:
  void add(const std::string& path, OutputStatus status, std::string detail) { m_out.add(pair_of(m_files, path, status,
      std::move(detail))); }

  void different_types(const json& run, const json& reference, const std::string& path) {
    OutputPair pair = pair_of(m_files, path, OutputStatus::type_differs);
    pair.dtype = std::string(type_of(run)) + " / " + std::string(type_of(reference));
    pair.elements = pair.mismatches = 1;
    pair.detail = "the run has " + std::string(type_of(run)) + ", the reference " + std::string(type_of(reference));
    m_out.add(std::move(pair));
  }

  void objects(const json& run, const json& reference, const std::string& path) {
    if (run.empty() && reference.empty())
      return add(path, OutputStatus::equal, "empty on both sides");
    std::set<std::string> keys;
    for (const json* side : {&run, &reference})
      for (const auto& [key, value] : side->items())
        keys.insert(key);
    for (const std::string& key : keys) {
      const std::string below = path.empty() ? key : path + "." + key;
      const auto in_run = run.find(key);
      const auto in_reference = reference.find(key);
      if (in_run == run.end())
        add(below, OutputStatus::missing_in_run, "the run's file has no such key");
      else if (in_reference == reference.end())
        add(below, OutputStatus::missing_in_reference, "the reference's file has no such key");
      else if (is_timing(key) && declared(*m_files.tolerances, m_files.name, below) == nullptr)
        add(below, OutputStatus::not_compared, "a time by its name; declare a tolerance for this key to have it compared");
      else
        go(*in_run, *in_reference, below);
    }
  }

  void arrays(const json& run, const json& reference, const std::string& path) {
    if (run.size() != reference.size()) {
      OutputPair pair = pair_of(m_files, path, OutputStatus::shape_differs);
      pair.dtype = "array";
      pair.shape_run = "(" + std::to_string(run.size()) + ")";
      pair.shape_reference = "(" + std::to_string(reference.size()) + ")";
      pair.elements = reference.size();
      pair.detail = "the run has " + std::to_string(run.size()) + " entries, the reference " + std::to_string(reference.size());
      return m_out.add(std::move(pair));
    }
    if (run.empty())
      return add(path, OutputStatus::equal, "empty on both sides");
    for (std::size_t i = 0; i < run.size(); ++i)
      go(run[i], reference[i], path.empty() ? std::to_string(i) : path + "." + std::to_string(i));
  }

  // Two whole numbers are counts and must be the same, unless the project says otherwise.
  void numbers(const json& run, const json& reference, const std::string& path) {
    const bool whole = run.is_number_integer() && reference.is_number_integer();
    const Tolerance* tolerance = declared(*m_files.tolerances, m_files.name, path);
    OutputPair pair = pair_of(m_files, path, OutputStatus::equal);
    pair.dtype = whole ? "integer" : "number";
    Differences differences(allowed(tolerance, whole ? k_json_integer : k_json_float));
    if (whole && run == reference)
      differences.add_distance(0, std::abs(*number_of(reference)));
    else if (whole && *number_of(run) == *number_of(reference))
      differences.add_distance(1, std::abs(*number_of(reference))); // differ beyond what a double tells apart
    else
      differences.add(*number_of(run), *number_of(reference));
    differences.write_to(pair);
    m_out.add(std::move(pair));
  }

  void exact(const json& run, const json& reference, const std::string& path, std::string_view type) {
    OutputPair pair = pair_of(m_files, path, OutputStatus::equal);
    pair.dtype = type;
    pair.elements = 1;
    if (run != reference && is_device_name(run) && is_device_name(reference)) {
      pair.status = OutputStatus::not_compared;
      pair.detail = "names of devices: " + quoted(run) + ", in the reference " + quoted(reference);
    } else if (run != reference) {
      pair.status = OutputStatus::outside;
      pair.mismatches = 1;
      pair.first_index = 0;
      pair.detail = "the run has " + quoted(run) + ", the reference " + quoted(reference);
    }
    m_out.add(std::move(pair));
  }

  const FilePair& m_files;
  Collector& m_out;
};

} // namespace

void compare_json(const FilePair& files, Collector& out) {
  const Result<json> run = parse_json(with_special_numbers(files.run), "the run's file");
  if (!run)
    return out.add(pair_of(files, "", OutputStatus::unreadable, "in the run: " + run.error().message()));
  const Result<json> reference = parse_json(with_special_numbers(files.reference), "the reference's file");
  if (!reference)
    return out.add(pair_of(files, "", OutputStatus::unreadable, "in the reference: " + reference.error().message()));
  Walk(files, out).go(*run, *reference, "");
}

} // namespace remotemac::compare
