// Secrets are found by their fixed beginnings: one pass looks for the prefixes, a checker per kind reads on.
#include "policies/detectors.h"

#include "common/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <zlib.h>

namespace remotemac::policies {
namespace {
bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_alnum(c) || c == '_' || c == '-'; }
bool is_base64(char c) { return is_alnum(c) || c == '+' || c == '/' || c == '='; }

template <typename Predicate> std::size_t run_length(std::string_view text, std::size_t at, Predicate&& fits) {
  std::size_t end = at;
  while (end < text.size() && fits(text[end]))
    ++end;
  return end - at;
}

// A token is random: many different characters. Placeholders (xxxx, 1234, EXAMPLE) are not.
bool looks_random(std::string_view body) {
  if (body.find("EXAMPLE") != std::string_view::npos || body.find("example") != std::string_view::npos)
    return false;
  std::array<bool, 256> seen{};
  std::size_t different = 0;
  for (const char c : body) {
    bool& flag = seen[static_cast<unsigned char>(c)];
    different += flag ? 0 : 1;
    flag = true;
  }
  return different >= std::min<std::size_t>(9, body.size() / 2);
}

// GitHub and npm tokens end in six base62 digits: the CRC32 of what stands before them.
bool crc_fits(std::string_view body) {
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const std::string_view text = body.substr(0, body.size() - 6);
  const std::uint32_t crc = static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
  std::uint64_t value = 0;
  for (const char c : body.substr(body.size() - 6)) {
    const std::size_t at = digits.find(c);
    if (at == std::string_view::npos)
      return false;
    value = value * 62 + at;
  }
  return value == crc;
}

enum class Alphabet { alnum, word, upper, hex, base64 };

struct TokenForm {
  std::string_view prefix;
  std::string_view detector;
  Alphabet alphabet;
  std::size_t min;
  std::size_t max; // of what follows the prefix
  bool crc = false;
};

constexpr std::array k_forms{
    TokenForm{"AKIA", "cloud-token", Alphabet::upper, 16, 16},
    TokenForm{"ASIA", "cloud-token", Alphabet::upper, 16, 16},
    TokenForm{"AIza", "cloud-token", Alphabet::word, 35, 35},
    TokenForm{"ya29.", "cloud-token", Alphabet::word, 40, 400},
    TokenForm{"AccountKey=", "cloud-token", Alphabet::base64, 86, 90},
    TokenForm{"dop_v1_", "cloud-token", Alphabet::hex, 64, 64},
    TokenForm{"dapi", "cloud-token", Alphabet::hex, 32, 32},
    TokenForm{"ghp_", "forge-token", Alphabet::alnum, 36, 36, true},
    TokenForm{"gho_", "forge-token", Alphabet::alnum, 36, 36, true},
    TokenForm{"ghu_", "forge-token", Alphabet::alnum, 36, 36, true},
    TokenForm{"ghs_", "forge-token", Alphabet::alnum, 36, 36, true},
    TokenForm{"ghr_", "forge-token", Alphabet::alnum, 36, 76, true},
    TokenForm{"github_pat_", "forge-token", Alphabet::word, 82, 82},
    TokenForm{"glpat-", "forge-token", Alphabet::word, 20, 60},
    TokenForm{"npm_", "forge-token", Alphabet::alnum, 36, 36, true},
    TokenForm{"pypi-AgE", "forge-token", Alphabet::word, 50, 400},
    TokenForm{"dckr_pat_", "forge-token", Alphabet::word, 27, 40},
    TokenForm{"hf_", "forge-token", Alphabet::alnum, 34, 34},
    TokenForm{"xoxb-", "service-token", Alphabet::word, 40, 200},
    TokenForm{"xoxp-", "service-token", Alphabet::word, 40, 200},
    TokenForm{"xapp-", "service-token", Alphabet::word, 40, 200},
    TokenForm{"sk_live_", "service-token", Alphabet::alnum, 20, 120},
    TokenForm{"rk_live_", "service-token", Alphabet::alnum, 20, 120},
    TokenForm{"SG.", "service-token", Alphabet::word, 22, 22},
    TokenForm{"sk-ant-", "service-token", Alphabet::word, 40, 200},
    TokenForm{"sk-proj-", "service-token", Alphabet::word, 40, 250},
    TokenForm{"sk-", "service-token", Alphabet::alnum, 48, 48},
    TokenForm{"AGE-SECRET-KEY-1", "private-key", Alphabet::upper, 58, 58},
};

bool in_alphabet(Alphabet alphabet, char c) {
  switch (alphabet) {
  case Alphabet::alnum:
    return is_alnum(c);
  case Alphabet::word:
    return is_word(c);
  case Alphabet::upper:
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
  case Alphabet::hex:
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  case Alphabet::base64:
    break;
  }
  return is_base64(c);
}

void detect_tokens(std::string_view text, std::vector<Match>& out) {
  for (const TokenForm& form : k_forms) {
    for (std::size_t at = text.find(form.prefix); at != std::string_view::npos; at = text.find(form.prefix, at + 1)) {
      if (at > 0 && is_word(text[at - 1]))
        continue;
      const std::size_t body_at = at + form.prefix.size();
      const std::size_t length = run_length(text, body_at, [&](char c) { return in_alphabet(form.alphabet, c); });
      if (length < form.min || length > form.max)
        continue;
      const std::string_view body = text.substr(body_at, length);
      if (!looks_random(body))
        continue;
      out.push_back({form.detector, form.crc && !crc_fits(body) ? Confidence::medium : Confidence::high, at});
    }
  }
}

// A header alone (in a program that looks for keys) is no key: material must follow. Escaped line ends (\n in JSON) count as such.
void detect_key_blocks(std::string_view text, std::vector<Match>& out) {
  constexpr std::string_view begin = "-----BEGIN ";
  for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1)) {
    const std::string_view rest = text.substr(at + begin.size(), 64);
    const std::size_t end = rest.find("-----");
    if (end == std::string_view::npos || rest.substr(0, end).find("PRIVATE KEY") == std::string_view::npos)
      continue;
    std::string_view body = text.substr(at + begin.size() + end + 5, 4096);
    body = body.substr(0, body.find("-----END"));
    std::size_t material = 0;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] == '\\' && i + 1 < body.size())
        ++i;
      else
        material += is_base64(body[i]) ? 1u : 0u;
    }
    const bool only_spaced = std::all_of(body.begin(), body.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    out.push_back({"private-key", material >= 24 && only_spaced ? Confidence::high : Confidence::medium, at});
  }
  for (std::size_t at = text.find("PuTTY-User-Key-File-"); at != std::string_view::npos; at = text.find("PuTTY-User-Key-File-", at + 1)) {
    if (text.substr(at, 4096).find("Private-Lines:") != std::string_view::npos)
      out.push_back({"private-key", Confidence::high, at});
  }
}

// "eyJ" is the base64url of '{"': the beginning of every JOSE header.
void detect_web_tokens(std::string_view text, std::vector<Match>& out) {
  for (std::size_t at = text.find("eyJ"); at != std::string_view::npos; at = text.find("eyJ", at + 1)) {
    if (at > 0 && is_word(text[at - 1]))
      continue;
    const std::size_t header = run_length(text, at, is_word);
    const std::size_t payload_at = at + header + 1;
    if (header < 16 || payload_at >= text.size() || text[payload_at - 1] != '.' || text.substr(payload_at, 3) != "eyJ")
      continue;
    const std::size_t payload = run_length(text, payload_at, is_word);
    const std::size_t signature_at = payload_at + payload + 1;
    if (signature_at < text.size() && text[signature_at - 1] == '.' && run_length(text, signature_at, is_word) >= 20)
      out.push_back({"jwt", Confidence::medium, at});
  }
}

void detect_url_passwords(std::string_view text, std::vector<Match>& out) {
  for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 1)) {
    const std::size_t user_at = at + 3;
    const std::size_t user = run_length(text, user_at, [](char c) { return is_word(c) || c == '.' || c == '%'; });
    const std::size_t colon = user_at + user;
    if (user == 0 || colon >= text.size() || text[colon] != ':')
      continue;
    const std::size_t password = run_length(text, colon + 1, [](char c) { return c > ' ' && c != '@' && c != '/' && c != '"' && c != '\'' && c != '<' && c != '`'; });
    const std::size_t end = colon + 1 + password;
    if (password < 3 || end >= text.size() || text[end] != '@' || text[colon + 1] == '$' || text[colon + 1] == '{')
      continue;
    const std::string lower = to_lower_ascii(text.substr(colon + 1, password));
    if (lower != "password" && lower != "pass" && lower != "secret" && lower.find("xxx") == std::string::npos && lower.find("***") == std::string::npos)
      out.push_back({"url-password", Confidence::medium, at});
  }
}

// password = "..." and its like, and the AWS secret key, which has a fixed length but no prefix.
void detect_assignments(std::string_view text, std::vector<Match>& out) {
  constexpr std::array<std::string_view, 11> words{"password", "passwd", "passphrase", "_pass", "secret", "secret_key", "secret_access_key", "api_key", "apikey", "access_token", "auth_token"};
  const std::string lower = to_lower_ascii(text);
  for (const std::string_view word : words) {
    for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      std::size_t i = at + word.size();
      const auto skip = [&](std::string_view set) {
        while (i < text.size() && set.find(text[i]) != std::string_view::npos)
          ++i;
      };
      skip("\"' ");
      if (i >= text.size() || (text[i] != '=' && text[i] != ':'))
        continue;
      ++i;
      skip(" ");
      const bool quoted = i < text.size() && (text[i] == '"' || text[i] == '\'');
      if (quoted)
        ++i;
      const std::size_t length = run_length(text, i, [](char c) { return c > ' ' && c != '"' && c != '\'' && c != ',' && c != ';' && c != '\\'; });
      const std::string_view value = text.substr(i, length);
      if (word == "secret_access_key" && length == 40 && std::all_of(value.begin(), value.end(), is_base64) && looks_random(value)) {
        out.push_back({"cloud-token", Confidence::high, at});
        continue;
      }
      const bool mixed = std::any_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; }) && std::any_of(value.begin(), value.end(), [](char c) { return is_alnum(c) && (c < '0' || c > '9'); });
      if (quoted && length >= 8 && mixed && looks_random(value) && value.find_first_of("${<([") == std::string_view::npos)
        out.push_back({"password", Confidence::medium, at});
    }
  }
}
} // namespace

void detect_secrets(std::string_view text, std::vector<Match>& out) {
  detect_key_blocks(text, out);
  detect_tokens(text, out);
  detect_web_tokens(text, out);
  detect_url_passwords(text, out);
  detect_assignments(text, out);
}

} // namespace remotemac::policies
