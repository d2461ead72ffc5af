#include "policies/check_digits.h"

#include <algorithm>
#include <array>
#include <string>

namespace remotemac::policies {
namespace {
bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int digit(char c) { return c - '0'; }

int prefix(std::string_view digits, std::size_t count) {
  int value = 0;
  for (const char c : digits.substr(0, count))
    value = 10 * value + digit(c);
  return value;
}

struct IbanCountry {
  std::string_view code;
  std::size_t length;
};

// SWIFT IBAN registry: registered lengths.
constexpr std::array<IbanCountry, 89> k_iban_lengths{{
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22}, {"BH", 22}, {"BI", 27}, {"BR", 29}, {"BY", 28},
    {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24}, {"DE", 22}, {"DJ", 27}, {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24}, {"FI", 18},
    {"FK", 18}, {"FO", 18}, {"FR", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27}, {"GT", 28}, {"HN", 28}, {"HR", 21}, {"HU", 28},
    {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26}, {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28}, {"LC", 32}, {"LI", 21}, {"LT", 20},
    {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22}, {"MK", 19}, {"MN", 20}, {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NI", 28},
    {"NL", 18}, {"NO", 15}, {"OM", 23}, {"PK", 24}, {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33}, {"SA", 24},
    {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23}, {"ST", 25}, {"SV", 28}, {"TL", 23}, {"TN", 24}, {"TR", 26},
    {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20}, {"YE", 30},
}};
} // namespace

bool luhn(std::string_view digits) {
  int sum = 0;
  bool twice = false;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it, twice = !twice) {
    const int value = digit(*it) * (twice ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return !digits.empty() && sum % 10 == 0;
}

bool is_payment_card(std::string_view digits) {
  const std::size_t size = digits.size();
  if (size < 12 || size > 19 || !all_digits(digits) || digits.find_first_not_of(digits.front()) == std::string_view::npos)
    return false;
  const int two = prefix(digits, 2);
  const int four = prefix(digits, 4);
  const int three = prefix(digits, 3);
  const bool visa = digits.front() == '4' && (size == 13 || size == 16 || size == 19);
  const bool mastercard = size == 16 && ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720));
  const bool amex = size == 15 && (two == 34 || two == 37);
  const bool diners = size == 14 && ((three >= 300 && three <= 305) || two == 36 || two == 38 || two == 39);
  const bool discover = size >= 16 && (four == 6011 || (three >= 644 && three <= 649) || two == 65);
  const bool jcb = size >= 16 && four >= 3528 && four <= 3589;
  const bool union_pay = size >= 16 && two == 62;
  const bool maestro = (two == 50 || (two >= 56 && two <= 58) || two == 67) && size >= 12;
  return (visa || mastercard || amex || diners || discover || jcb || union_pay || maestro) && luhn(digits);
}

bool is_iban(std::string_view text) {
  if (text.size() < 15 || text.size() > 34 || !all_digits(text.substr(2, 2)))
    return false;
  const auto country = std::find_if(k_iban_lengths.begin(), k_iban_lengths.end(), [&](const IbanCountry& row) { return row.code == text.substr(0, 2); });
  if (country == k_iban_lengths.end() || country->length != text.size())
    return false;
  int rest = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[(i + 4) % text.size()];
    if (c >= '0' && c <= '9')
      rest = (rest * 10 + digit(c)) % 97;
    else if (c >= 'A' && c <= 'Z')
      rest = (rest * 100 + (c - 'A' + 10)) % 97;
    else
      return false;
  }
  return rest == 1;
}

bool is_german_tax_id(std::string_view digits) {
  if (digits.size() != 11 || !all_digits(digits) || digits.front() == '0')
    return false;
  std::array<int, 10> seen{};
  for (std::size_t i = 0; i < 10; ++i)
    ++seen[static_cast<std::size_t>(digit(digits[i]))];
  const auto repeated = std::count_if(seen.begin(), seen.end(), [](int n) { return n > 1; });
  if (repeated != 1 || *std::max_element(seen.begin(), seen.end()) > 3)
    return false;
  for (std::size_t i = 0; i + 2 < 10; ++i) {
    if (digits[i] == digits[i + 1] && digits[i] == digits[i + 2])
      return false;
  }
  int product = 10;
  for (std::size_t i = 0; i < 10; ++i) {
    int sum = (digit(digits[i]) + product) % 10;
    sum = sum == 0 ? 10 : sum;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 == digit(digits[10]);
}

bool is_my_number(std::string_view digits) {
  if (digits.size() != 12 || !all_digits(digits) || digits.find_first_not_of(digits.front()) == std::string_view::npos)
    return false;
  constexpr std::array<int, 11> weights{6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2};
  int sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    sum += digit(digits[i]) * weights[i];
  const int rest = sum % 11;
  return (rest <= 1 ? 0 : 11 - rest) == digit(digits[11]);
}

bool is_us_ssn(std::string_view digits) {
  if (digits.size() != 9 || !all_digits(digits))
    return false;
  const int area = prefix(digits, 3);
  // Printed in advertisements and forms, never anybody's.
  constexpr std::array<std::string_view, 4> printed{"078051120", "219099999", "123456789", "111111111"};
  return area != 0 && area != 666 && area < 900 && digits.substr(3, 2) != "00" && digits.substr(5) != "0000" && std::find(printed.begin(), printed.end(), digits) == printed.end();
}

} // namespace remotemac::policies
