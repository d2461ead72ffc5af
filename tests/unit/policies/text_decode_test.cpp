#include "policies/text_decode.h"

#include <gtest/gtest.h>

namespace remotemac::policies {
namespace {
using namespace std::string_view_literals;

std::vector<DecodedText> decode(std::string_view bytes) { return decode_text({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}); }

TEST(TextDecode, KnowsEncodingsByTheirMarks) {
  EXPECT_EQ(decode("abc\xC3\xA4").at(0).encoding, "UTF-8");
  EXPECT_EQ(decode("\xEF\xBB\xBF" "abc").at(0).utf8, "abc");
  EXPECT_EQ(decode("\xFF\xFE" "a\0b\0"sv).at(0).utf8, "ab");
  EXPECT_EQ(decode("\xFE\xFF" "\0a\0b"sv).at(0).utf8, "ab");
  EXPECT_EQ(decode("\xFF\xFE\0\0a\0\0\0"sv).at(0).utf8, "a");
}

TEST(TextDecode, OldEncodingsAreReadInEveryWayThatFits) {
  bool western = false;
  for (const DecodedText& reading : decode("Stra\xDF" "e 5"))
    western = western || reading.utf8 == "Stra\xC3\x9F" "e 5";
  EXPECT_TRUE(western);
  bool japanese = false;
  for (const DecodedText& reading : decode("\x8E\x81\x96\xBC")) // Shift_JIS
    japanese = japanese || reading.utf8 == "\xE6\xB0\x8F\xE5\x90\x8D";
  EXPECT_TRUE(japanese);
}

TEST(TextDecode, BinaryIsNoText) {
  EXPECT_TRUE(decode("a\0b"sv).empty());
  EXPECT_TRUE(decode("\x01\x02\x03 text").empty());
  EXPECT_TRUE(decode("\xFF\xFE" "a"sv).empty()); // half a UTF-16 unit
  EXPECT_FALSE(decode("").empty());
}
} // namespace
} // namespace remotemac::policies
