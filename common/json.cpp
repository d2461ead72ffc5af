#include "common/json.h"

#include "common/text.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace remotemac {
namespace {
using nlohmann::json;

// RFC 8785 sorts keys by UTF-16 code units; that differs from byte order only above U+FFFF against U+E000..U+FFFF.
std::u16string utf16(std::string_view text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    std::uint32_t c = length == 1 ? first : first & (0x7Fu >> length);
    for (std::size_t k = 1; k < length; ++k)
      c = (c << 6) | (static_cast<std::uint8_t>(text[i + k]) & 0x3Fu);
    if (c >= 0x10000) {
      out += static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10));
      out += static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
      out += static_cast<char16_t>(c);
    }
    i += length;
  }
  return out;
}

void write_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\b': out += "\\b"; break;
    case '\f': out += "\\f"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        out += buffer;
      } else {
        out += c;
      }
    }
  }
  out += '"';
}

Result<void> write(const json& value, std::string& out) {
  switch (value.type()) {
  case json::value_t::null: out += "null"; return ok();
  case json::value_t::boolean: out += value.get<bool>() ? "true" : "false"; return ok();
  case json::value_t::number_integer: out += std::to_string(value.get<std::int64_t>()); return ok();
  case json::value_t::number_unsigned: out += std::to_string(value.get<std::uint64_t>()); return ok();
  case json::value_t::string: {
    const auto& text = value.get_ref<const std::string&>();
    if (!is_valid_utf8(text))
      return Error(ErrorCode::internal, "canonical JSON needs UTF-8 text");
    write_string(text, out);
    return ok();
  }
  case json::value_t::array: {
    out += '[';
    bool first = true;
    for (const json& each : value) {
      if (!first)
        out += ',';
      first = false;
      RM_TRY(write(each, out));
    }
    out += ']';
    return ok();
  }
  case json::value_t::object: {
    std::vector<std::pair<std::u16string, const std::string*>> keys;
    for (auto it = value.begin(); it != value.end(); ++it) {
      if (!is_valid_utf8(it.key()))
        return Error(ErrorCode::internal, "canonical JSON needs UTF-8 keys");
      keys.emplace_back(utf16(it.key()), &it.key());
    }
    std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    out += '{';
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i != 0)
        out += ',';
      write_string(*keys[i].second, out);
      out += ':';
      RM_TRY(write(value.at(*keys[i].second), out));
    }
    out += '}';
    return ok();
  }
  default: return Error(ErrorCode::internal, "canonical JSON holds neither floating point numbers nor binary values");
  }
}

// Counts nesting without recursion, so that a hostile document cannot exhaust the stack of a later recursive reader.
bool too_deep(std::string_view text, std::size_t limit) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit)
        return true;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  return false;
}
} // namespace

Result<std::string> canonical_json(const json& value) {
  std::string out;
  RM_TRY(write(value, out));
  return out;
}

Result<json> parse_json(std::string_view text, std::string_view what, std::size_t max_bytes) {
  if (text.size() > max_bytes)
    return Error(ErrorCode::protocol, std::string(what) + " is larger than " + human_bytes(max_bytes));
  if (too_deep(text, 64))
    return Error(ErrorCode::protocol, std::string(what) + " is nested deeper than 64 levels");
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    return Error(ErrorCode::protocol, std::string(what) + " is not valid JSON: " + clean_line(error.what(), 300));
  }
}

std::string dump_json(const json& value, int indent) { return value.dump(indent, ' ', false, json::error_handler_t::replace); }

const json& json_at(const json& object, std::string_view key) {
  static const json null;
  if (!object.is_object())
    return null;
  const auto it = object.find(key);
  return it == object.end() ? null : *it;
}

std::string json_text(const json& object, std::string_view key, std::string_view fallback) {
  const json& value = json_at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string(fallback);
}

std::int64_t json_int(const json& object, std::string_view key, std::int64_t fallback) {
  const json& value = json_at(object, key);
  if (value.is_number_unsigned()) {
    const auto big = value.get<std::uint64_t>();
    return big > static_cast<std::uint64_t>(INT64_MAX) ? fallback : static_cast<std::int64_t>(big);
  }
  return value.is_number_integer() ? value.get<std::int64_t>() : fallback;
}

double json_number(const json& object, std::string_view key, double fallback) {
  const json& value = json_at(object, key);
  return value.is_number() ? value.get<double>() : fallback;
}

bool json_flag(const json& object, std::string_view key, bool fallback) {
  const json& value = json_at(object, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

} // namespace remotemac
