#include "policies/column_test.h"

#include "common/text.h"
#include "policies/check_digits.h"

#include <algorithm>
#include <array>

namespace remotemac::policies {
namespace {
constexpr std::uint64_t k_least_values = 8;
constexpr double k_share = 0.9;
constexpr std::array<std::string_view, 4> k_ids{"german-tax-id", "my-number", "payment-card", "us-ssn"};

std::string key_of(std::string_view header) {
  std::string out;
  for (const char c : to_lower_ascii(trim(header))) {
    if (c != ' ' && c != '-' && c != '_' && c != '.' && c != '"')
      out += c;
  }
  return out;
}

template <std::size_t N> bool is_one_of(const std::string& key, const std::array<std::string_view, N>& words) { return std::find(words.begin(), words.end(), key) != words.end(); }
// "patient_ssn", "billingCardNumber": the name of an identifier stands at the end, before it stands whose.
template <std::size_t N> bool ends_with_one_of(const std::string& key, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return key.ends_with(word); });
}

// How tables write "no value": a column with gaps is still a column of identifiers.
bool is_gap(std::string_view value) {
  constexpr std::array<std::string_view, 9> gaps{"", "na", "n/a", "nan", "null", "none", "-", "?", "."};
  return std::find(gaps.begin(), gaps.end(), to_lower_ascii(trim(value))) != gaps.end();
}

constexpr std::array<std::string_view, 8> k_tax_headers{"taxid", "steuerid", "steueridnr", "idnr", "steuernummer", "tin", "steueridentifikationsnummer", "taxnumber"};
constexpr std::array<std::string_view, 6> k_my_number_headers{"mynumber", "個人番号", "マイナンバー", "kojinbango", "mynumbercard", "jpmynumber"};
constexpr std::array<std::string_view, 7> k_card_headers{"card", "cardnumber", "creditcard", "creditcardnumber", "ccnumber", "kreditkarte", "pan"};
constexpr std::array<std::string_view, 5> k_ssn_headers{"ssn", "socialsecurity", "socialsecuritynumber", "ssnumber", "usssn"};
constexpr std::array<std::string_view, 38> k_person_headers{
    "surname", "lastname", "firstname", "fullname", "patientname", "givenname", "familyname", "nachname", "vorname", "birthdate", "dateofbirth", "dob", "birthday",
    "geburtsdatum", "geburtsname", "address", "streetaddress", "street", "strasse", "adresse", "anschrift", "phone", "phonenumber", "telephone", "telefon", "mobile", "patientid",
    "mrn", "medicalrecordnumber", "insurancenumber", "versichertennummer", "passport", "passportnumber", "氏名", "住所", "生年月日", "電話番号", "患者番号"};

// "12345678901.0", as a table writer makes of whole numbers in a column with gaps; and separators inside.
std::string digits_of(std::string_view value) {
  value = trim(value);
  if (value.size() > 2 && value.ends_with(".0"))
    value.remove_suffix(2);
  std::string out;
  for (const char c : value) {
    if (c >= '0' && c <= '9')
      out += c;
    else if (c != ' ' && c != '-')
      return {};
  }
  return out.size() > 19 ? std::string() : out;
}
} // namespace

ColumnTest::ColumnTest(std::string_view header) {
  const std::string key = key_of(header);
  m_named[tax_id] = ends_with_one_of(key, k_tax_headers);
  m_named[my_number] = ends_with_one_of(key, k_my_number_headers);
  m_named[card] = ends_with_one_of(key, k_card_headers);
  m_named[ssn] = ends_with_one_of(key, k_ssn_headers);
  m_person = is_one_of(key, k_person_headers);
}

void ColumnTest::add(std::string_view value) {
  if (is_gap(value))
    return;
  ++m_values;
  const std::string digits = digits_of(value);
  if (digits.size() < 9)
    return;
  m_passed[tax_id] += is_german_tax_id(digits) ? 1u : 0u;
  m_passed[my_number] += is_my_number(digits) ? 1u : 0u;
  m_passed[card] += is_payment_card(digits) ? 1u : 0u;
  m_passed[ssn] += is_us_ssn(digits) ? 1u : 0u;
}

std::vector<Finding> ColumnTest::findings(const std::string& place) const {
  std::vector<Finding> out;
  for (std::size_t kind = 0; kind < k_kinds; ++kind) {
    const bool nearly_all = m_values >= k_least_values && static_cast<double>(m_passed[kind]) >= k_share * static_cast<double>(m_values);
    // Nine of ten numbers have the structure of an SSN: only the column's name makes it one.
    if (m_passed[kind] > 0 && (m_named[kind] || (nearly_all && kind != ssn)))
      out.push_back({std::string(k_ids[kind]), Confidence::high, m_passed[kind], place});
  }
  if (m_person && m_values > 0)
    out.push_back({"person-column", Confidence::low, 1, place});
  return out;
}

} // namespace remotemac::policies
