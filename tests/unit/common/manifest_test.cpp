#include "common/manifest.h"

#include "common/frame.h"
#include "common/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace remotemac {
namespace {
using nlohmann::json;

json chunk(std::string_view content) { return {{"digest", sha256(content).hex()}, {"size", content.size()}}; }
json file(const std::string& path, std::string_view content = "x", bool exec = false) {
  return {{"path", path}, {"size", content.size()}, {"exec", exec}, {"chunks", content.empty() ? json::array() : json::array({chunk(content)})}};
}
// A list of values, not one value: braces around a single json would mean that value itself.
json manifest(const std::vector<json>& files) { return {{"version", 1}, {"files", files}}; }

void expect_refused(const json& value, const std::string& word) {
  const Result<Manifest> out = parse_manifest(value.dump(-1, ' ', false, json::error_handler_t::replace));
  ASSERT_FALSE(out.has_value()) << value.dump();
  EXPECT_NE(out.error().chain().find(word), std::string::npos) << out.error().chain();
}

TEST(Manifest, CanonicalFormIsThatOfTheJsonWriter) {
  const json value = manifest({file("a \"quoted\".py", "print(1)"), file("b/\u00e9.sh", "#!/bin/sh", true), file("empty", "")});
  const Result<std::string> canonical = canonical_json(value);
  ASSERT_TRUE(canonical.has_value());
  const Result<Manifest> parsed = parse_manifest(*canonical);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().chain();
  EXPECT_EQ(parsed->canonical(), *canonical);
  EXPECT_EQ(parsed->digest(), sha256(*canonical));
  EXPECT_EQ(parsed->total_bytes(), 17U);
  EXPECT_EQ(parsed->files[1].exec, Exec::yes);
}

TEST(Manifest, AnEmptyOneIsFine) {
  const Result<Manifest> parsed = parse_manifest(manifest({}).dump());
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->canonical(), R"({"files":[],"version":1})");
}

TEST(Manifest, HostilePathsAreRefused) {
  for (const std::string& path : {std::string("../x"), std::string("a/../../x"), std::string("/etc/passwd"), std::string(""), std::string("a//b"), std::string("a/"),
                                  std::string("./a"), std::string("a\0b", 3), std::string("a\nb"), std::string("a\x1b[2J"), std::string("a\u202eb"),
                                  std::string(256, 'n'), std::string(1025, 'n')}) {
    const Result<Manifest> out = parse_manifest(manifest({file(path)}).dump());
    EXPECT_FALSE(out.has_value()) << path;
  }
}

TEST(Manifest, OrderAndUniquenessAreChecked) {
  expect_refused(manifest({file("b"), file("a")}), "not sorted");
  expect_refused(manifest({file("a"), file("a")}), "not sorted");
  expect_refused(manifest({file("Readme"), file("readme")}), "two names");
  expect_refused(manifest({file("e\u0301"), file("\u00e9")}), "two names"); // decomposed and composed
}

TEST(Manifest, APathIsNotBothFileAndFolder) {
  expect_refused(manifest({file("a"), file("a/b")}), "as a file and as a folder");
  expect_refused(manifest({file("A"), file("a/b")}), "as a file and as a folder");
  expect_refused(manifest({file("a"), file("a.b"), file("a/b/c")}), "as a file and as a folder");
}

TEST(Manifest, SizesMustAddUp) {
  json wrong = file("a", "abc");
  wrong["size"] = 4;
  expect_refused(manifest({wrong}), "add up");
  wrong["size"] = -1;
  expect_refused(manifest({wrong}), "incomplete");
  wrong = file("a", "abc");
  wrong["chunks"][0]["size"] = k_chunk_bytes + 1;
  expect_refused(manifest({wrong}), "size outside");
  wrong["chunks"][0]["size"] = 0;
  expect_refused(manifest({wrong}), "size outside");
  wrong["chunks"][0]["size"] = -3;
  expect_refused(manifest({wrong}), "size outside");
}

TEST(Manifest, WrongShapesAreRefused) {
  json no_chunks = file("a");
  no_chunks.erase("chunks");
  expect_refused(manifest({no_chunks}), "incomplete");
  json bad_digest = file("a");
  bad_digest["chunks"][0]["digest"] = "ABC";
  expect_refused(manifest({bad_digest}), "digest");
  expect_refused({{"version", 2}, {"files", json::array()}}, "version");
  expect_refused({{"version", 1}, {"files", json::object()}}, "version");
  expect_refused(json::array(), "version");
  expect_refused(manifest({3, "x", nullptr}), "path");
  EXPECT_FALSE(parse_manifest("").has_value());
}

TEST(Manifest, TruncationAtEachByteIsAnError) {
  const std::string whole = manifest({file("a"), file("b/c")}).dump();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_manifest(std::string_view(whole).substr(0, size)).has_value()) << size;
}

} // namespace
} // namespace remotemac
