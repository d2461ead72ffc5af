#include "common/manifest.h"

#include "common/check.h"
#include "common/frame.h"
#include "common/json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

namespace remotemac {
namespace {
void append_quoted(const std::string& text, std::string& out) {
  const Result<std::string> quoted = canonical_json(nlohmann::json(text));
  RM_CHECK(quoted.has_value()); // a RelPath is valid UTF-8
  out += *quoted;
}

Result<ManifestFile> parse_file(const nlohmann::json& value) {
  RM_ASSIGN(RelPath path, RelPath::create(json_text(value, "path")));
  ManifestFile file{std::move(path), 0, json_flag(value, "exec") ? Exec::yes : Exec::no, {}};
  const std::int64_t size = json_int(value, "size", -1);
  const nlohmann::json& chunks = json_at(value, "chunks");
  if (size < 0 || !chunks.is_array())
    return Error(ErrorCode::protocol, "the manifest entry for '" + file.path.text() + "' is incomplete");
  file.size_bytes = static_cast<std::uint64_t>(size);
  std::uint64_t sum = 0;
  for (const nlohmann::json& chunk : chunks) {
    RM_ASSIGN(const Digest digest, Digest::from_hex(json_text(chunk, "digest")));
    const std::int64_t chunk_size = json_int(chunk, "size", 0);
    if (chunk_size < 1 || chunk_size > static_cast<std::int64_t>(k_chunk_bytes))
      return Error(ErrorCode::protocol, "a chunk of '" + file.path.text() + "' has a size outside 1 B .. 2 MiB");
    sum += static_cast<std::uint64_t>(chunk_size);
    file.chunks.push_back({digest, static_cast<std::uint32_t>(chunk_size)});
  }
  if (sum != file.size_bytes)
    return Error(ErrorCode::protocol, "the chunks of '" + file.path.text() + "' do not add up to its size");
  return file;
}
} // namespace

// Written by hand instead of through a JSON value: 20 000 files are judged and sent often. Keys are in canonical order.
std::string Manifest::canonical() const {
  std::string out = "{\"files\":[";
  bool first_file = true;
  for (const ManifestFile& file : files) {
    out += first_file ? "{\"chunks\":[" : ",{\"chunks\":[";
    first_file = false;
    bool first_chunk = true;
    for (const ChunkRef& chunk : file.chunks) {
      out += first_chunk ? "{\"digest\":\"" : ",{\"digest\":\"";
      first_chunk = false;
      out += chunk.digest.hex() + "\",\"size\":" + std::to_string(chunk.size_bytes) + "}";
    }
    out += file.exec == Exec::yes ? "],\"exec\":true,\"path\":" : "],\"exec\":false,\"path\":";
    append_quoted(file.path.text(), out);
    out += ",\"size\":" + std::to_string(file.size_bytes) + "}";
  }
  return out + "],\"version\":1}";
}

Digest Manifest::digest() const { return sha256(canonical()); }

std::uint64_t Manifest::total_bytes() const {
  std::uint64_t sum = 0;
  for (const ManifestFile& file : files)
    sum += file.size_bytes;
  return sum;
}

Result<Manifest> parse_manifest(std::string_view text) {
  RM_ASSIGN(const nlohmann::json value, parse_json(text, "the manifest"));
  const nlohmann::json& files = json_at(value, "files");
  if (json_int(value, "version") != 1 || !files.is_array() || files.size() > 2'000'000)
    return Error(ErrorCode::protocol, "the manifest is not of version 1 or too long");
  Manifest out;
  std::unordered_set<std::string> keys;
  std::unordered_set<std::string> folders;
  for (const nlohmann::json& each : files) {
    RM_ASSIGN(ManifestFile file, parse_file(each));
    if (!out.files.empty() && !(out.files.back().path < file.path))
      return Error(ErrorCode::protocol, "the manifest is not sorted at '" + file.path.text() + "'");
    const std::string key = file.path.collision_key();
    if (!keys.insert(key).second)
      return Error(ErrorCode::protocol, "the manifest has two names for '" + file.path.text() + "' on a folding file system");
    for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1))
      folders.insert(key.substr(0, slash));
    out.files.push_back(std::move(file));
  }
  for (const std::string& folder : folders) {
    if (keys.contains(folder))
      return Error(ErrorCode::protocol, "the manifest uses '" + folder + "' as a file and as a folder");
  }
  return out;
}

} // namespace remotemac
