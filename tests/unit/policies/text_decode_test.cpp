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

bool reads_as(std::string_view bytes, std::string_view text) {
  for (const DecodedText& reading : decode(bytes)) {
    if (reading.utf8 == text)
      return true;
  }
  return false;
}

TEST(TextDecode, VendorCharactersDoNotMakeAFileUnread) {
  // Shift_JIS of Windows: U+2460 and U+9AD9 beside full-width digits
  EXPECT_TRUE(reads_as("\x87\x40\xFB\xFC\x82\x53", "\xE2\x91\xA0\xE9\xAB\x99\xEF\xBC\x94"));
  // ISO-2022-JP with a vendor's row 13: cannot be converted, so it is not text; colours of a terminal are.
  EXPECT_TRUE(decode("\x1B$B\x2D\x21\x23\x34\x1B(B\n").empty());
  EXPECT_TRUE(reads_as("\x1B$B\x23\x34\x1B(B", "\xEF\xBC\x94"));
  EXPECT_FALSE(decode("\x1B[32mgreen\x1B[0m\x1B(B").empty());
}

TEST(TextDecode, EbcdicIsReadOrRefused) {
  EXPECT_TRUE(reads_as("\xE2\xE2\xD5\x40\xF5\xF3\xF6", "SSN 536"));
  EXPECT_TRUE(decode("\x97\x81\xA3\x89\x85\x95\xA3\x40\x81\x8D\x8F").empty()); // what fits no encoding is no text
}

TEST(TextDecode, BinaryIsNoText) {
  EXPECT_TRUE(decode("a\0b"sv).empty());
  EXPECT_TRUE(decode("\x01\x02\x03 text").empty());
  EXPECT_TRUE(decode("\xFF\xFE" "a"sv).empty()); // half a UTF-16 unit
  EXPECT_FALSE(decode("").empty());
}
} // namespace
} // namespace remotemac::policies
