// Vectors are public documentation examples (registries, ministries, python-stdnum's documentation) or computed here; none is a person's.
#include "policies/check_digits.h"

#include <gtest/gtest.h>
#include <string>

namespace remotemac::policies {
namespace {
TEST(CheckDigits, Iban) {
  for (const char* good : {"GR1601101050000010547023795", "DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606", "NO9386011117947"})
    EXPECT_TRUE(is_iban(good)) << good;
  for (const char* bad : {"DE88370400440532013000", "DE8937040044053201300", "XX89370400440532013000", "de89370400440532013000", "", "DE", "GB82WEST1234569876543!"})
    EXPECT_FALSE(is_iban(bad)) << bad;
}

TEST(CheckDigits, PaymentCards) {
  for (const char* good : {"4111111111111111", "5555555555554444", "378282246310005", "6011111111111117", "3530111333300000", "30569309025904", "2223003122003222"})
    EXPECT_TRUE(is_payment_card(good)) << good;
  for (const char* bad : {"4111111111111112", "1234567812345670", "0000000000000000", "411111111111111", "41111111111111111111", "4111-1111-1111-1111"})
    EXPECT_FALSE(is_payment_card(bad)) << bad;
}

TEST(CheckDigits, GermanTaxId) {
  for (const char* good : {"36574261809", "86095742719", "47036892816", "65929970489"})
    EXPECT_TRUE(is_german_tax_id(good)) << good;
  for (const char* bad : {"36574261808", "06574261809", "12345678901", "3657426180", "11111111111", "3657426180a"})
    EXPECT_FALSE(is_german_tax_id(bad)) << bad;
}

TEST(CheckDigits, ThreeInARowIsNoGermanTaxId) {
  // Every check digit after a body with three equal digits in a row: none is issued.
  for (char last = '0'; last <= '9'; ++last)
    EXPECT_FALSE(is_german_tax_id(std::string("1112345678") + last));
}

TEST(CheckDigits, MyNumber) {
  EXPECT_TRUE(is_my_number("621498320257"));
  for (const char* bad : {"621498320258", "62149832025", "000000000000", "62149832025a"})
    EXPECT_FALSE(is_my_number(bad)) << bad;
}

TEST(CheckDigits, EveryBodyHasExactlyOneRightLastDigit) {
  for (const std::string body : {"62149832025", "10000000000", "98765432109"}) {
    int right = 0;
    for (char last = '0'; last <= '9'; ++last)
      right += is_my_number(body + last) ? 1 : 0;
    EXPECT_EQ(right, 1) << body;
  }
}

TEST(CheckDigits, UsSsn) {
  EXPECT_TRUE(is_us_ssn("536904399"));
  for (const char* bad : {"000904399", "666904399", "900904399", "536004399", "536900000", "078051120", "123456789", "53690439", "5369043999"})
    EXPECT_FALSE(is_us_ssn(bad)) << bad;
}
} // namespace
} // namespace remotemac::policies
