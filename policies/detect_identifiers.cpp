// Identifiers of people: real check digits between real token boundaries. A digit run that touches letters, '.', '-' and the like is part of something longer
// (a float, a hash, a UID) and does not count; the written forms with separators have their own patterns.
#include "policies/check_digits.h"
#include "policies/detectors.h"

#include "common/text.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace remotemac::policies {
namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alnum(char c) { return is_digit(c) || is_letter(c); }

char at_or_space(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : ' '; }

// '.', '-' and '/' glue only when more of a token follows; a full stop at the end of a sentence does not, nor one behind a letter ("Nr.123").
bool bounded_left(std::string_view text, std::size_t at) {
  if (at == 0)
    return true;
  const char c = text[at - 1];
  if (c == '.')
    return at >= 2 && is_letter(text[at - 2]);
  return !is_alnum(c) && c != '_' && c != '+' && c != '-' && c != '/';
}
bool bounded_right(std::string_view text, std::size_t end) {
  const char c = at_or_space(text, end);
  if (is_alnum(c) || c == '_')
    return false;
  const bool glue = c == '.' || c == '-' || c == '/' || c == '+';
  return !glue || !is_alnum(at_or_space(text, end + 1));
}

// Does one of the words stand within 64 bytes before, or 24 after, on the same or the line before?
bool has_context(std::string_view text, std::size_t at, std::size_t end, std::span<const std::string_view> words) {
  const std::size_t from = at > 64 ? at - 64 : 0;
  const std::string around = to_lower_ascii(text.substr(from, std::min(text.size(), end + 24) - from));
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    for (std::size_t i = around.find(word); i != std::string::npos; i = around.find(word, i + 1)) {
      const bool ascii = static_cast<unsigned char>(word.front()) < 0x80;
      if (!ascii || ((i == 0 || !is_alnum(around[i - 1])) && !is_letter(at_or_space(around, i + word.size()))))
        return true;
    }
    return false;
  });
}

constexpr std::array<std::string_view, 9> k_card_words{"card", "kreditkarte", "credit", "visa", "mastercard", "amex", "carte", "カード", "pan"};
constexpr std::array<std::string_view, 10> k_tax_words{"steuer-id", "steuerid", "steuer_id", "steuer-identifikationsnummer", "steuerliche identifikationsnummer", "idnr", "identifikationsnummer", "tax id", "tax_id", "taxid"};
constexpr std::array<std::string_view, 8> k_my_number_words{"マイナンバー", "個人番号", "my number", "my_number", "mynumber", "my-number", "kojin bango", "kojin_bango"};
constexpr std::array<std::string_view, 6> k_ssn_words{"ssn", "social security", "social_security", "social-security", "socialsecurity", "ss#"};

Confidence raised(bool certain, TextShape shape, Confidence otherwise) {
  if (certain)
    return Confidence::high;
  return shape == TextShape::table ? Confidence::low : otherwise;
}

// Digits written in groups with one kind of separator: "4111 1111 1111 1111", "12 345 678 901". Gives digits, end and whether grouped.
struct DigitRun {
  std::string digits;
  std::size_t end = 0;
  std::vector<std::size_t> groups;

  // The first groups for themselves: "4111 1111 1111 1111 123" is a card number and something else.
  [[nodiscard]] DigitRun first(std::size_t count, std::size_t at) const {
    DigitRun out;
    out.groups.assign(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(count));
    const std::size_t size = std::accumulate(out.groups.begin(), out.groups.end(), std::size_t{0});
    out.digits = digits.substr(0, size);
    out.end = at + size + count - 1; // one separator between two groups
    return out;
  }
};

DigitRun digits_at(std::string_view text, std::size_t at) {
  DigitRun out;
  char separator = '\0';
  std::size_t i = at;
  std::size_t group = 0;
  while (i < text.size() && out.digits.size() < 24) {
    if (is_digit(text[i])) {
      out.digits += text[i++];
      ++group;
      out.end = i;
    } else if ((text[i] == ' ' || text[i] == '-') && is_digit(at_or_space(text, i + 1)) && (separator == '\0' || separator == text[i])) {
      separator = text[i++];
      out.groups.push_back(group);
      group = 0;
    } else {
      break;
    }
  }
  out.groups.push_back(group);
  return out;
}

bool groups_are(const DigitRun& run, std::initializer_list<std::size_t> groups) { return std::equal(run.groups.begin(), run.groups.end(), groups.begin(), groups.end()); }

void judge_digits(std::string_view text, std::size_t at, const DigitRun& run, TextShape shape, std::vector<Match>& out) {
  const bool single = run.groups.size() == 1;
  const auto context = [&](std::span<const std::string_view> words) { return has_context(text, at, run.end, words); };
  if (run.digits.size() == 9 && is_us_ssn(run.digits)) {
    const bool dashed = groups_are(run, {3, 2, 4});
    if (dashed || (single && context(k_ssn_words)))
      out.push_back({"us-ssn", context(k_ssn_words) ? Confidence::high : Confidence::medium, at});
  } else if (run.digits.size() == 11 && is_german_tax_id(run.digits)) {
    if (single || groups_are(run, {2, 3, 3, 3}))
      out.push_back({"german-tax-id", raised(context(k_tax_words), shape, Confidence::medium), at});
  } else if (run.digits.size() == 12 && is_my_number(run.digits) && (single || groups_are(run, {4, 4, 4})) && context(k_my_number_words)) {
    out.push_back({"my-number", Confidence::high, at});
  } else if (is_payment_card(run.digits)) {
    const bool fours = groups_are(run, {4, 4, 4, 4}) || groups_are(run, {4, 6, 5});
    if (single || fours)
      out.push_back({"payment-card", raised(fours || context(k_card_words), shape, Confidence::medium), at});
  }
}

void detect_digits(std::string_view text, TextShape shape, std::vector<Match>& out) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    const DigitRun whole = digits_at(text, i);
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end]))
      ++end;
    if (bounded_left(text, i)) {
      for (std::size_t count = 2; count <= whole.groups.size(); ++count) {
        // In a row of numbers of one width ("1234 5678 9012 ...") only the end is tried: the beginnings would match by chance.
        const bool goes_on = count < whole.groups.size() && whole.groups[count] == whole.groups[count - 1];
        if (const DigitRun run = whole.first(count, i); !goes_on && bounded_right(text, run.end))
          judge_digits(text, i, run, shape, out);
      }
      // The first group for itself too: "12345678901 2" may be two cells.
      if (bounded_right(text, end) && end - i >= 9 && end - i <= 19)
        judge_digits(text, i, DigitRun{std::string(text.substr(i, end - i)), end, {end - i}}, shape, out);
    }
    i = end;
  }
}

void detect_ibans(std::string_view text, std::vector<Match>& out) {
  for (std::size_t i = 0; i + 15 <= text.size(); ++i) {
    if (!is_digit(text[i + 2]) || !is_digit(text[i + 3]) || !is_letter(text[i]) || !is_letter(text[i + 1]) || (i > 0 && is_alnum(text[i - 1])))
      continue;
    std::string plain;
    std::vector<std::size_t> ends; // sizes of `plain` at which the token may end
    for (std::size_t j = i; j <= text.size() && plain.size() <= 34; ++j) {
      const char c = at_or_space(text, j);
      if (j < text.size() && is_alnum(c)) {
        plain += static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
        continue;
      }
      ends.push_back(plain.size());
      if ((c != ' ' && c != '-') || !is_alnum(at_or_space(text, j + 1)))
        break;
    }
    if (std::any_of(ends.begin(), ends.end(), [&](std::size_t end) { return is_iban(std::string_view(plain).substr(0, end)); }))
      out.push_back({"iban", Confidence::high, i});
  }
}

bool is_example_domain(std::string_view domain) {
  for (const std::string_view example : {"example.com", "example.org", "example.net", "example.edu"}) {
    if (domain == example || (domain.size() > example.size() && domain.ends_with(example) && domain[domain.size() - example.size() - 1] == '.'))
      return true;
  }
  const std::size_t dot = domain.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? domain : domain.substr(dot + 1);
  return last == "example" || last == "invalid" || last == "test" || last == "localhost" || last == "local";
}

void detect_mail_addresses(std::string_view text, std::vector<Match>& out) {
  const auto is_upper = [](char c) { return static_cast<unsigned char>(c) >= 0x80; }; // part of a letter such as U+00FC (RFC 6531)
  const auto is_local = [&](char c) { return is_alnum(c) || is_upper(c) || std::string_view("._%+-").find(c) != std::string_view::npos; };
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_local(text[begin - 1]) && at - begin < 64)
      --begin;
    std::size_t end = at + 1;
    while (end < text.size() && (is_alnum(text[end]) || text[end] == '.' || text[end] == '-') && end - at < 254)
      ++end;
    // A domain with other letters than ASCII; behind a whole ASCII one they are only the text that follows without a space.
    const std::string_view ascii = text.substr(at, end - at);
    const std::size_t ascii_dot = ascii.rfind('.');
    if (end < text.size() && is_upper(text[end]) && (ascii_dot == std::string_view::npos || ascii.size() - ascii_dot < 3)) {
      while (end < text.size() && (is_alnum(text[end]) || is_upper(text[end]) || text[end] == '.' || text[end] == '-') && end - at < 254)
        ++end;
    }
    while (end > at && (text[end - 1] == '.' || text[end - 1] == '-'))
      --end;
    const std::string domain = to_lower_ascii(text.substr(at + 1, end - at - 1));
    const std::size_t dot = domain.rfind('.');
    if (begin == at || dot == std::string::npos || dot == 0 || domain.size() - dot < 3 || domain.find("..") != std::string::npos)
      continue;
    const std::string_view last = std::string_view(domain).substr(dot + 1);
    const std::string local = to_lower_ascii(text.substr(begin, at - begin));
    const bool file_like = last == "py" || last == "png" || last == "jpg" || last == "svg" || last == "md";
    const bool nobody = local == "git" || local == "noreply" || local == "no-reply";
    if (std::all_of(last.begin(), last.end(), is_letter) && !file_like && !nobody && !is_example_domain(domain))
      out.push_back({"e-mail", Confidence::medium, begin});
  }
}
} // namespace

void detect_identifiers(std::string_view text, TextShape shape, std::vector<Match>& out) {
  detect_digits(text, shape, out);
  detect_ibans(text, out);
  detect_mail_addresses(text, out);
}

} // namespace remotemac::policies
