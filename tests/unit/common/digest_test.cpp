#include "common/digest.h"

#include <gtest/gtest.h>

#include <set>

namespace remotemac {
namespace {

// FIPS 180-4 examples.
TEST(Digest, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256(std::string_view()).hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256(std::string_view("abc")).hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')).hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, PiecesGiveWhatTheWholeGives) {
  const std::string text(300, 'x');
  for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
    Sha256 hash;
    hash.update(std::string_view(text).substr(0, cut));
    hash.update(std::string_view(text).substr(cut));
    EXPECT_EQ(hash.finish(), sha256(text)) << cut;
  }
}

TEST(Digest, MovedHasherGoesOn) {
  Sha256 first;
  first.update(std::string_view("ab"));
  Sha256 second(std::move(first));
  second.update(std::string_view("c"));
  EXPECT_EQ(second.finish(), sha256(std::string_view("abc")));
}

TEST(Digest, HexGoesBothWays) {
  const Digest digest = sha256(std::string_view("abc"));
  const Result<Digest> back = Digest::from_hex(digest.hex());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, digest);
  EXPECT_EQ(std::hash<Digest>()(*back), std::hash<Digest>()(digest));
}

TEST(Digest, RefusesAllOtherText) {
  const std::string good = sha256(std::string_view("abc")).hex();
  EXPECT_FALSE(Digest::from_hex("").has_value());
  EXPECT_FALSE(Digest::from_hex(good.substr(1)).has_value());
  EXPECT_FALSE(Digest::from_hex(good + "0").has_value());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char bad : {'A', 'F', 'g', ' ', '\0', '/', ':', '`'}) {
      std::string text = good;
      text[i] = bad;
      const Result<Digest> got = Digest::from_hex(text);
      ASSERT_FALSE(got.has_value()) << i << " " << bad;
      EXPECT_EQ(got.error().code(), ErrorCode::protocol);
    }
  }
}

TEST(Digest, RandomHexIsLongEnoughAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string text = random_hex(16);
    EXPECT_EQ(text.size(), 32U);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(seen.insert(text).second);
  }
}

} // namespace
} // namespace remotemac
