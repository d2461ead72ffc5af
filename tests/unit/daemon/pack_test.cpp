#include "daemon/pack.h"

#include "daemon/params.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace remotemac::daemon {
namespace {
std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

std::string record(const std::string& content) {
  const Digest digest = sha256(content);
  std::string out(digest.bytes.begin(), digest.bytes.end());
  for (const unsigned shift : {24u, 16u, 8u, 0u})
    out.push_back(static_cast<char>(static_cast<std::uint8_t>(content.size() >> shift)));
  return out + content;
}

TEST(PackTest, RecordsComeBackAndEveryTruncationIsAnError) {
  const std::string pack = record("abc") + record("") + record(std::string(70'000, 'x'));
  const auto parsed = parse_pack(bytes_of(pack));
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 3u);
  EXPECT_EQ((*parsed)[0].digest, sha256(std::string_view("abc")));
  EXPECT_EQ((*parsed)[1].bytes.size(), 0u);
  EXPECT_EQ((*parsed)[2].bytes.size(), 70'000u);
  const std::string shorter = record("abc") + record("de");
  for (std::size_t size = 1; size < shorter.size(); ++size)
    EXPECT_EQ(parse_pack(bytes_of(std::string_view(shorter).substr(0, size))).has_value(), size == 39) << size;
}

TEST(PackTest, ASizeBeyondThePackOrTheCapIsAnError) {
  std::string huge = record("abc");
  huge.replace(32, 4, "\xff\xff\xff\xff");
  EXPECT_FALSE(parse_pack(bytes_of(huge)).has_value());
}

TEST(ParamsTest, OnlyTheRightTypeWithinBoundsPasses) {
  const nlohmann::json params{{"n", 5}, {"text", "abc"}, {"list", {"a", "b"}}, {"negative", -1}, {"float", 1.5}, {"huge", UINT64_MAX}, {"mixed", {"a", 1}}};
  EXPECT_EQ(number_param(params, "n", 5, 5).value(), 5u);
  for (const char* name : {"text", "negative", "float", "huge", "none", "list"})
    EXPECT_FALSE(number_param(params, name, 0, UINT32_MAX).has_value()) << name;
  EXPECT_FALSE(number_param(params, "n", 6, 9).has_value());
  EXPECT_EQ(text_param(params, "text", 3).value(), "abc");
  EXPECT_FALSE(text_param(params, "text", 2).has_value());
  EXPECT_FALSE(text_param(params, "n", 9).has_value());
  EXPECT_EQ(texts_param(params, "list", 2, 1).value().size(), 2u);
  EXPECT_FALSE(texts_param(params, "list", 1, 1).has_value());
  EXPECT_FALSE(texts_param(params, "mixed", 5, 5).has_value());
}
} // namespace
} // namespace remotemac::daemon
