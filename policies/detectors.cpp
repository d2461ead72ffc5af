#include "policies/detectors.h"

#include <algorithm>
#include <array>

namespace remotemac::policies {
namespace {
constexpr std::array k_detectors{
    DetectorInfo{"private-key", "private key", "PEM, OpenSSH and PuTTY private key blocks with key material; age secret keys"},
    DetectorInfo{"cloud-token", "cloud access token", "AWS, Google, Azure, DigitalOcean and Databricks credentials by their fixed form"},
    DetectorInfo{"forge-token", "forge or registry token", "GitHub (CRC32 check), GitLab, npm (CRC32 check), PyPI, Docker Hub and Hugging Face tokens by their fixed form"},
    DetectorInfo{"service-token", "service token", "Slack, Stripe, SendGrid, OpenAI and Anthropic keys by their fixed form"},
    DetectorInfo{"jwt", "signed web token", "three base64url parts of which the first decodes to a JOSE header"},
    DetectorInfo{"url-password", "password in a URL", "scheme://user:password@host"},
    DetectorInfo{"password", "password in an assignment", "password, passphrase, _pass, secret, api_key, access_token or auth_token = a quoted text of 8 and more characters that is no placeholder"},
    DetectorInfo{"iban", "IBAN", "registered country and length, mod 97"},
    DetectorInfo{"payment-card", "payment card number", "issuer prefix and Luhn digit; certain with a context word or in groups of four"},
    DetectorInfo{"german-tax-id", "German tax ID (Steuer-ID)", "structure and ISO 7064 mod 11,10; certain with a context word"},
    DetectorInfo{"my-number", "Japanese My Number", "check digit mod 11; counts with a context word or by column"},
    DetectorInfo{"us-ssn", "US social security number", "valid area, group and serial; with dashes, a context word, or by column"},
    DetectorInfo{"e-mail", "e-mail address", "local part and a domain with a letter-only last label; example domains do not count"},
    DetectorInfo{"person-column", "column whose name speaks of a person", "table headers such as surname, date_of_birth, patient_id"},
};

// Bytes of an invisible character at text[at], else 0: U+00AD, U+200B..U+200F, U+202A..U+202E, U+2060..U+2064, U+2066..U+2069, U+FEFF.
std::size_t invisible_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  if (byte(0) == 0xC2 && byte(1) == 0xAD)
    return 2;
  if (byte(0) == 0xE2 && byte(1) == 0x80 && ((byte(2) >= 0x8B && byte(2) <= 0x8F) || (byte(2) >= 0xAA && byte(2) <= 0xAE)))
    return 3;
  if (byte(0) == 0xE2 && byte(1) == 0x81 && ((byte(2) >= 0xA0 && byte(2) <= 0xA4) || (byte(2) >= 0xA6 && byte(2) <= 0xA9)))
    return 3;
  return byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF ? 3 : 0;
}

// The ASCII character for a full-width form or a look-alike of '-', '@' or space; 0 when it is none. Sets `length`.
char ascii_at(std::string_view text, std::size_t at, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  length = 3;
  if (byte(0) == 0xEF && byte(1) == 0xBC && byte(2) >= 0x81 && byte(2) <= 0xBF)
    return static_cast<char>(byte(2) - 0x81 + '!');
  if (byte(0) == 0xEF && byte(1) == 0xBD && byte(2) >= 0x80 && byte(2) <= 0x9E)
    return static_cast<char>(byte(2) - 0x80 + '`');
  if (byte(0) == 0xE2 && byte(1) == 0x80 && byte(2) >= 0x90 && byte(2) <= 0x95)
    return '-';
  if (byte(0) == 0xE2 && byte(1) == 0x88 && byte(2) == 0x92)
    return '-';
  if ((byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) == 0x80) || (byte(0) == 0xE2 && byte(1) == 0x80 && (byte(2) <= 0x8A || byte(2) == 0xAF)))
    return byte(0) == 0xE2 && byte(2) < 0x80 ? '\0' : ' ';
  length = 2;
  if (byte(0) == 0xC2 && byte(1) == 0xA0)
    return ' ';
  return '\0';
}
// Bytes of a terminal's colour or cursor sequence at text[at] (ESC [ ... letter), else 0: in saved logs they stand around what they mark.
std::size_t escape_at(std::string_view text, std::size_t at) {
  if (text[at] != '\x1B' || at + 1 >= text.size() || text[at + 1] != '[')
    return 0;
  std::size_t end = at + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3F)
    ++end;
  return end < text.size() && text[end] >= 0x40 && text[end] <= 0x7E ? end + 1 - at : 0;
}
} // namespace

std::span<const DetectorInfo> detector_table() { return k_detectors; }

std::string_view detector_title(std::string_view id) {
  const auto found = std::find_if(k_detectors.begin(), k_detectors.end(), [&](const DetectorInfo& row) { return row.id == id; });
  return found == k_detectors.end() ? id : found->title;
}

std::string normalize_for_scan(std::string_view utf8) {
  if (std::all_of(utf8.begin(), utf8.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\x1B'; }))
    return std::string(utf8);
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) {
    if (const std::size_t length = escape_at(utf8, i); length > 0) {
      i += length;
      continue;
    }
    if (static_cast<unsigned char>(utf8[i]) < 0x80) {
      out += utf8[i++];
      continue;
    }
    if (const std::size_t length = invisible_at(utf8, i); length > 0) {
      i += length;
      continue;
    }
    std::size_t length = 1;
    if (const char plain = ascii_at(utf8, i, length); plain != '\0') {
      out += plain;
      i += length;
      continue;
    }
    out += utf8[i++];
  }
  return out;
}

std::vector<Match> detect(std::string_view text, TextShape shape) {
  std::vector<Match> out;
  detect_secrets(text, out);
  detect_identifiers(text, shape, out);
  return out;
}

std::vector<Finding> summarize(std::string_view text, const std::vector<Match>& matches, const std::string& place) {
  std::vector<Finding> out;
  for (const Match& match : matches) {
    const auto line = [&] { return place.empty() ? "line " + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(match.offset), '\n')) : place; };
    const auto known = std::find_if(out.begin(), out.end(), [&](const Finding& finding) { return finding.detector == match.detector; });
    if (known == out.end()) {
      out.push_back({std::string(match.detector), match.confidence, 1, line()});
      continue;
    }
    ++known->count;
    if (match.confidence > known->confidence) {
      known->confidence = match.confidence;
      known->place = line();
    }
  }
  return out;
}

void merge(std::vector<Finding>& findings, std::vector<Finding> more) {
  for (Finding& finding : more) {
    const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) { return other.detector == finding.detector; });
    if (known == findings.end()) {
      findings.push_back(std::move(finding));
      continue;
    }
    known->count += finding.count;
    if (finding.confidence > known->confidence) {
      known->confidence = finding.confidence;
      known->place = finding.place;
    }
  }
}

} // namespace remotemac::policies
