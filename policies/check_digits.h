#pragma once
// Check digits and structure of identifiers. Pure functions over digits; sources of the rules stand with each.
#include <string_view>

namespace remotemac::policies {

// ISO/IEC 7812-1 annex B (mod 10), digits only.
[[nodiscard]] bool luhn(std::string_view digits);
// 12 to 19 digits with an issuer prefix of the large networks, and Luhn.
[[nodiscard]] bool is_payment_card(std::string_view digits);
// ISO 13616: country with its registered length, upper-case letters and digits, mod 97 = 1. Without spaces.
[[nodiscard]] bool is_iban(std::string_view text);
// Section 139b AO: 11 digits, first not 0, among the first ten one digit twice or three times (never three in a row) and the
// others at most once; ISO 7064 mod 11,10.
[[nodiscard]] bool is_german_tax_id(std::string_view digits);
// Ordinance 85/2014 of the Ministry of Internal Affairs and Communications, Art. 5: 12 digits, weighted mod 11.
[[nodiscard]] bool is_my_number(std::string_view digits);
// Social Security Administration: area not 000, 666, 900-999; group not 00; serial not 0000; no number printed as an example.
[[nodiscard]] bool is_us_ssn(std::string_view digits);

} // namespace remotemac::policies
