#pragma once
// Internal to common/evidence*.cpp and survey.cpp: tolerant, capped reading of documents that come from elsewhere. Every function
// accepts any JSON value and gives an empty or zero result for what does not fit. Never throws.
#include "common/json.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace remotemac::evidence_json {

using nlohmann::json;

constexpr std::size_t k_max_entries = 20'000;
constexpr std::size_t k_max_text = 4096;
constexpr std::size_t k_max_name = 300;

// Cleaned to one line; absolute paths inside it are shortened to ".../last".
[[nodiscard]] std::string safe_text(std::string_view text, std::size_t max_bytes = k_max_text);
// A path inside the project, or ".../last" for one that leaves it.
[[nodiscard]] std::string safe_path(std::string_view text);

[[nodiscard]] std::string text(const json& object, std::string_view key, std::size_t max_bytes = k_max_text);
[[nodiscard]] std::string name(const json& object, std::string_view key);
[[nodiscard]] std::string path(const json& object, std::string_view key);
[[nodiscard]] std::uint64_t count(const json& object, std::string_view key);
[[nodiscard]] int line_number(const json& object, std::string_view key);
[[nodiscard]] double seconds(const json& object, std::string_view key); // finite and not negative, else 0
[[nodiscard]] std::optional<bool> maybe_flag(const json& object, std::string_view key);
[[nodiscard]] std::optional<double> maybe_number(const json& object, std::string_view key); // finite
[[nodiscard]] std::optional<std::uint64_t> maybe_count(const json& object, std::string_view key);
[[nodiscard]] std::optional<int> maybe_int(const json& object, std::string_view key);
[[nodiscard]] std::optional<std::int64_t> maybe_int64(const json& object, std::string_view key);
[[nodiscard]] std::vector<std::string> texts(const json& object, std::string_view key, std::size_t max_bytes = k_max_name);
[[nodiscard]] std::vector<std::string> paths(const json& object, std::string_view key);
[[nodiscard]] std::vector<std::int64_t> integers(const json& object, std::string_view key);
[[nodiscard]] std::map<std::string, std::string> text_map(const json& object, std::string_view key);
[[nodiscard]] std::map<std::string, std::uint64_t> count_map(const json& object, std::string_view key);

// The members of a list that are objects, capped.
template <typename T, typename Read> [[nodiscard]] std::vector<T> list(const json& object, std::string_view key, Read read) {
  std::vector<T> out;
  const json& values = json_at(object, key);
  if (!values.is_array())
    return out;
  for (const json& each : values) {
    if (out.size() >= k_max_entries)
      break;
    if (each.is_object())
      out.push_back(read(each));
  }
  return out;
}

template <typename T, typename Write> [[nodiscard]] json array_of(const std::vector<T>& values, Write write) {
  json out = json::array();
  for (const T& each : values)
    out.push_back(write(each));
  return out;
}

template <typename E> struct Named {
  E value;
  std::string_view name;
};
template <typename E, std::size_t N> [[nodiscard]] std::string_view name_in(const std::array<Named<E>, N>& table, E value) {
  for (const Named<E>& row : table) {
    if (row.value == value)
      return row.name;
  }
  return "";
}
template <typename E, std::size_t N>
[[nodiscard]] E value_in(const std::array<Named<E>, N>& table, const json& object, std::string_view key, E fallback) {
  const json& value = json_at(object, key);
  if (value.is_string()) {
    for (const Named<E>& row : table) {
      if (row.name == value.get_ref<const std::string&>())
        return row.value;
    }
  }
  return fallback;
}

[[nodiscard]] inline json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}
[[nodiscard]] inline json number(const std::optional<double>& value) {
  return value ? number(*value) : json(nullptr);
}
template <typename T> [[nodiscard]] json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}
[[nodiscard]] inline json or_null(const std::string& value) {
  return value.empty() ? json(nullptr) : json(value);
}

} // namespace remotemac::evidence_json
