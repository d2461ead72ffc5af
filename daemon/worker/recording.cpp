#include "daemon/worker/recording.h"

#include "common/file_system.h"
#include "common/json.h"
#include "common/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace remotemac::worker {
namespace {

using nlohmann::json;

constexpr std::size_t k_max_rank = 32;
constexpr std::size_t k_max_items = 20'000; // values of one signature, lists within lists included
constexpr int k_max_depth = 4;
constexpr std::size_t k_max_text = 256;

// A signature's values are read by one Reader, which remembers the first thing that is wrong.
class Reader {
public:
  [[nodiscard]] Value value(const json& source, int depth);
  [[nodiscard]] std::string short_text(const json& source, const char* what);
  [[nodiscard]] const std::string& problem() const { return m_problem; }
  void fail(std::string why) {
    if (m_problem.empty())
      m_problem = std::move(why);
  }

private:
  [[nodiscard]] double number(const json& source);
  [[nodiscard]] std::vector<std::int64_t> sizes(const json& source, const char* what);
  [[nodiscard]] TensorSpec tensor_spec(const json& source);
  std::string m_problem;
  std::size_t m_items = 0;
};

std::string Reader::short_text(const json& source, const char* what) {
  if (!source.is_string() || source.get_ref<const std::string&>().size() > k_max_text) {
    fail(std::string(what) + " is not a short text");
    return {};
  }
  return clean_line(source.get_ref<const std::string&>());
}

double Reader::number(const json& source) {
  if (source.is_number())
    return source.get<double>();
  if (source == "inf")
    return std::numeric_limits<double>::infinity();
  if (source == "-inf")
    return -std::numeric_limits<double>::infinity();
  if (source == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  fail("a number is not a number");
  return 0;
}

std::vector<std::int64_t> Reader::sizes(const json& source, const char* what) {
  std::vector<std::int64_t> result;
  if (!source.is_array() || source.size() > k_max_rank) {
    fail(std::string(what) + " of a tensor is not a list of at most 32 integers");
    return result;
  }
  for (const json& each : source) {
    const bool fits = each.is_number_integer() && (!each.is_number_unsigned() || each.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (!fits || each.get<std::int64_t>() < 0) {
      fail(std::string(what) + " of a tensor is not a list of integers from 0 on");
      return result;
    }
    result.push_back(each.get<std::int64_t>());
  }
  return result;
}

TensorSpec Reader::tensor_spec(const json& source) {
  TensorSpec spec;
  if (!source.is_object()) {
    fail("a tensor is not an object");
    return spec;
  }
  spec.dtype = short_text(json_at(source, "dtype"), "the dtype of a tensor");
  spec.layout = short_text(json_at(source, "layout"), "the layout of a tensor");
  spec.device = short_text(json_at(source, "device"), "the device of a tensor");
  spec.requires_grad = json_flag(source, "requires_grad");
  if (spec.layout != "strided") {
    fail(spec.layout + " tensors are not replayed");
    return spec;
  }
  spec.shape = sizes(json_at(source, "shape"), "the shape");
  spec.stride = sizes(json_at(source, "stride"), "the stride");
  spec.offset = json_int(source, "offset", -1);
  if (!is_known_dtype(spec.dtype))
    fail("tensors of dtype " + spec.dtype + " are not replayed");
  else if (spec.device == "meta")
    fail("tensors on the meta device have no values");
  else if (m_problem.empty() && !storage_elements(spec))
    fail("shape, stride and offset of a tensor do not fit together");
  return spec;
}

Value Reader::value(const json& source, int depth) {
  Value result;
  if (depth > k_max_depth || ++m_items > k_max_items) {
    fail("the arguments are too many or nested too deep");
    return result;
  }
  if (!source.is_object() || source.size() != 1) {
    fail("an argument is not an object with one key");
    return result;
  }
  const std::string& key = source.begin().key();
  const json& content = source.begin().value();
  using Kind = Value::Kind;
  if (key == "tensor") {
    result.kind = Kind::tensor;
    result.tensor = tensor_spec(content);
  } else if (key == "int" && content.is_number_integer()) {
    result.kind = Kind::integer;
    result.integer = content.is_number_unsigned() && content.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? std::numeric_limits<std::int64_t>::max() : content.get<std::int64_t>();
  } else if (key == "float") {
    result.kind = Kind::real;
    result.real = number(content);
  } else if (key == "bool" && content.is_boolean()) {
    result.kind = Kind::boolean;
    result.flag = content.get<bool>();
  } else if (key == "none") {
    result.kind = Kind::none;
  } else if (key == "complex" && content.is_array() && content.size() == 2) {
    result.kind = Kind::complex;
    result.real = number(content[0]);
    result.imaginary = number(content[1]);
  } else if (key == "list" && content.is_array()) {
    result.kind = Kind::list;
    for (const json& each : content) {
      result.items.push_back(value(each, depth + 1));
      if (!m_problem.empty())
        break;
    }
  } else if (key == "string" || key == "dtype" || key == "device" || key == "layout" || key == "memory_format" || key == "opaque") {
    result.kind = key == "string" ? Kind::text : key == "dtype" ? Kind::dtype : key == "device" ? Kind::device : key == "layout" ? Kind::layout : key == "memory_format" ? Kind::memory_format : Kind::opaque;
    result.text = short_text(content, "an argument");
  } else {
    fail("an argument is of the unknown kind '" + clean_line(key, 40) + "'");
  }
  return result;
}

std::uint64_t total_elements(Signature& signature) {
  std::uint64_t total = 0;
  visit_tensors(signature, [&](TensorSpec& spec) {
    const std::uint64_t reach = std::max(storage_elements(spec).value_or(0), element_count(spec));
    if (__builtin_add_overflow(total, reach, &total))
      total = std::numeric_limits<std::uint64_t>::max();
  });
  return total;
}

Signature read_signature(const json& source) {
  Signature signature;
  Reader reader;
  if (!source.is_object()) {
    signature.op = "?";
    signature.problem = "the signature is not an object";
    return signature;
  }
  signature.op = reader.short_text(json_at(source, "op"), "the operator");
  signature.overload = json_at(source, "overload").is_null() ? "" : reader.short_text(json_at(source, "overload"), "the overload");
  if (signature.overload == "default")
    signature.overload.clear();
  signature.calls = static_cast<std::uint64_t>(std::max<std::int64_t>(json_int(source, "calls", 1), 1));
  const json& args = json_at(source, "args");
  const json& kwargs = json_at(source, "kwargs");
  if (!args.is_array() && !args.is_null())
    reader.fail("the arguments are not a list");
  if (!kwargs.is_object() && !kwargs.is_null())
    reader.fail("the keyword arguments are not an object");
  if (reader.problem().empty()) {
    for (const json& each : args)
      signature.args.push_back(reader.value(each, 0));
    for (const auto& [name, each] : kwargs.items())
      signature.kwargs.emplace(clean_line(name, 64), reader.value(each, 0));
  }
  signature.problem = reader.problem();
  if (signature.problem.empty())
    if (const std::uint64_t total = total_elements(signature); total > k_max_elements)
      signature.problem = "its tensors have " + std::to_string(total) + " elements (" + human_bytes(total > (std::uint64_t{1} << 58) ? std::numeric_limits<std::uint64_t>::max() : total * 24) + " for device, reference and comparison); the limit is " + std::to_string(k_max_elements);
  return signature;
}

void visit_devices(Value& value, std::string_view host) {
  if (value.kind == Value::Kind::device)
    value.text = value.text == "cpu" ? std::string(host) : std::string(k_target_device);
  for (Value& item : value.items)
    visit_devices(item, host);
}

// Where the recorded run had an accelerator, its CPU tensors were meant to be on the CPU, and an operation among CPU tensors alone
// stays there on a Mac as well. A run on the CPU says nothing of the kind: everything may move to the device.
void settle_devices(Recording& recording) {
  std::set<std::string> devices;
  for (Signature& signature : recording.signatures)
    visit_tensors(signature, [&](TensorSpec& spec) { devices.insert(spec.device); });
  devices.erase("cpu");
  for (Signature& signature : recording.signatures) {
    for (Value& value : signature.args)
      visit_devices(value, devices.empty() ? k_target_device : "cpu");
    for (auto& [name, value] : signature.kwargs)
      visit_devices(value, devices.empty() ? k_target_device : "cpu");
  }
  if (devices.empty())
    return;
  for (Signature& signature : recording.signatures) {
    bool any = false;
    bool moved = false;
    visit_tensors(signature, [&](TensorSpec& spec) {
      any = true;
      spec.stays_on_host = spec.device == "cpu";
      moved = moved || !spec.stays_on_host;
    });
    if (any && !moved && signature.problem.empty())
      signature.problem = "it ran on the CPU in the recorded run, and stays there";
  }
}

} // namespace

Result<Recording> parse_recording(std::string_view text) {
  RM_ASSIGN(const json document, parse_json(text, "the recording", k_max_recording_bytes));
  const auto wrong = [](std::string why) { return Error(ErrorCode::corrupt, "the recording is not usable: " + std::move(why), "record again with this version of remotemac"); };
  if (!document.is_object() || json_text(document, "format") != "remotemac-recording")
    return wrong("it is not a remotemac-recording document");
  if (json_int(document, "version") != 1)
    return wrong("its version is not 1");
  const json& signatures = json_at(document, "signatures");
  if (!signatures.is_array())
    return wrong("'signatures' is not a list");
  if (signatures.size() > k_max_signatures)
    return wrong("it holds " + std::to_string(signatures.size()) + " signatures; the limit is " + std::to_string(k_max_signatures));
  Recording recording;
  recording.torch = clean_line(json_text(document, "torch"), 64);
  for (const json& each : signatures)
    recording.signatures.push_back(read_signature(each));
  settle_devices(recording);
  return recording;
}

Result<Recording> read_recording(const std::filesystem::path& file) {
  PosixFileSystem disk;
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(file, ignored);
  RM_ASSIGN_WHILE("reading the recording", const std::string text, disk.read_file(absolute, k_max_recording_bytes));
  RM_ASSIGN_WHILE("reading " + absolute.string(), Recording recording, parse_recording(text));
  return recording;
}

} // namespace remotemac::worker
