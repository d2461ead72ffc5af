#include "policies/detectors.h"

#include <gtest/gtest.h>
#include <random>

namespace remotemac::policies {
namespace {
std::optional<Confidence> found(std::string_view text, std::string_view detector, TextShape shape = TextShape::running) {
  std::optional<Confidence> out;
  for (const Match& match : detect(normalize_for_scan(text), shape)) {
    if (match.detector == detector && (!out || match.confidence > *out))
      out = match.confidence;
  }
  return out;
}

struct Case {
  const char* detector;
  std::string text;
  std::optional<Confidence> expected;
};

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

TEST(Detectors, FindAndLeaveAlone) {
  const std::string key_body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
  const Case cases[] = {
      // keys
      {"private-key", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + key_body + "\n-----END OPENSSH PRIVATE KEY-----", Confidence::high},
      {"private-key", "{\"key\": \"-----BEGIN PRIVATE KEY-----\\n" + key_body + "\\n\"}", Confidence::high},
      {"private-key", "if text.startswith('-----BEGIN PRIVATE KEY-----'):", Confidence::medium},
      {"private-key", "-----BEGIN PUBLIC KEY-----\n" + key_body, std::nullopt},
      // tokens: made up, of the right form
      {"cloud-token", "aws = AKIA" "QZ7XK2PLM4NRT6VW", Confidence::high},
      {"cloud-token", "AKIAIOSFODNN7EXAMPLE", std::nullopt},
      {"cloud-token", "xAKIAQZ7XK2PLM4NRT6VW", std::nullopt},
      {"forge-token", "ghp_" + repeat("x", 36), std::nullopt},
      {"forge-token", "glpat-" "x7Qm2Rt9Vb4Lk1Zp8Ws3", Confidence::high},
      {"forge-token", "hf_" "AbCdEfGhIjKlMnOpQrStUvWxYz12345678", Confidence::high},
      {"service-token", "sk_live_" "4eC39HqLyjWDarjtT1zdp7dc", Confidence::high},
      {"jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", Confidence::medium},
      {"url-password", "postgres://user:s3cr3tW0rd@db.example.org/x", Confidence::medium},
      {"url-password", "https://user:password@example.org", std::nullopt},
      {"url-password", "git@github.com:owner/repo.git", std::nullopt},
      {"password", "password = \"Tr0ub4dor&3xyz\"", Confidence::medium},
      {"password", "client_secret: 'Tr0ub4dor&3xyz'", Confidence::medium},
      {"password", "password = os.environ[\"DB_PASSWORD\"]", std::nullopt},
      // IBAN
      {"iban", "pay to DE89 3704 0044 0532 0130 00 now", Confidence::high},
      {"iban", "DE89370400440532013000", Confidence::high},
      {"iban", "de89370400440532013000", Confidence::high},
      {"iban", "DE89370400440532013001", std::nullopt},
      {"iban", "xDE89370400440532013000", std::nullopt},
      // cards
      {"payment-card", "4111 1111 1111 1111", Confidence::high},
      {"payment-card", "card: 4111111111111111", Confidence::high},
      {"payment-card", "id 4111111111111111 end", Confidence::medium},
      {"payment-card", "0.4111111111111111", std::nullopt},
      {"payment-card", "4111111111111112", std::nullopt},
      // German tax ID
      {"german-tax-id", "Steuer-ID: 36574261809", Confidence::high},
      {"german-tax-id", "36 574 261 809", Confidence::medium},
      {"german-tax-id", "36574261809.5", std::nullopt},
      {"german-tax-id", "a36574261809", std::nullopt},
      {"german-tax-id", "36574261808", std::nullopt},
      // My Number
      {"my-number", "個人番号: 6214 9832 0257", Confidence::high},
      {"my-number", "マイナンバー ６２１４９８３２０２５７", Confidence::high},
      {"my-number", "621498320257", std::nullopt},
      // SSN
      {"us-ssn", "SSN 536-90-4399", Confidence::high},
      {"us-ssn", "536-90-4399", Confidence::medium},
      {"us-ssn", "ssn: 536904399", Confidence::high},
      {"us-ssn", "536904399", std::nullopt},
      {"us-ssn", "000-90-4399", std::nullopt},
      // e-mail
      {"e-mail", "erika.mustermann@uni-musterstadt.de", Confidence::medium},
      {"e-mail", "someone@example.org", std::nullopt},
      {"e-mail", "git@github.com", std::nullopt},
      {"e-mail", "@decorator.name", std::nullopt},
      {"e-mail", "x@y", std::nullopt},
  };
  for (const Case& each : cases)
    EXPECT_EQ(found(each.text, each.detector), each.expected) << each.detector << " in: " << each.text;
}

TEST(Detectors, InvisibleAndFullWidthCharactersDoNotHide) {
  EXPECT_EQ(found("DE89\xE2\x80\x8B" "370400440532013000", "iban"), Confidence::high);
  EXPECT_EQ(found("erika\xC2\xAD@uni-musterstadt.de", "e-mail"), Confidence::medium);
  EXPECT_EQ(found("erika\xEF\xBC\xA0uni-musterstadt.de", "e-mail"), Confidence::medium);
  EXPECT_EQ(found("SSN 536\xE2\x80\x93" "90\xE2\x80\x93" "4399", "us-ssn"), Confidence::high);
}

TEST(Detectors, WhatStandsAroundDoesNotHide) {
  EXPECT_EQ(found("\x1B[32m536-90-4399\x1B[0m", "us-ssn"), Confidence::medium);
  EXPECT_EQ(found("4111 1111 1111 1111 12/27", "payment-card"), Confidence::high);
  EXPECT_EQ(found("4111 1111 1111 1111 123", "payment-card"), Confidence::high);
  EXPECT_EQ(found("4111 1111 1111 1111 1234 5678", "payment-card"), std::nullopt); // a row of numbers
  EXPECT_EQ(found("Nr.4111111111111111", "payment-card"), Confidence::medium);
  EXPECT_EQ(found("erika.gro\xC3\x9F@uni-musterstadt.de", "e-mail"), Confidence::medium);
  EXPECT_EQ(found("erika@m\xC3\xBCller-klinik.de", "e-mail"), Confidence::medium);
  EXPECT_EQ(found("erika@mail.m\xC3\xBCller.de", "e-mail"), Confidence::medium);
  EXPECT_EQ(found("someone@example.com\xE3\x81\xBE\xE3\x81\xA7", "e-mail"), std::nullopt);
}

TEST(Detectors, GitHubTokensAreCertainOnlyWithTheirChecksum) {
  // Body and its CRC32 in base62, computed by hand for a made-up body.
  EXPECT_EQ(found("ghp_" "Z4kQ9sT2mV7xB1nC6dF3gH8jK5lP0rabcdef", "forge-token"), Confidence::medium);
}

TEST(Detectors, FindingsSayWhereAndNeverWhat) {
  const std::string text = "line one\nSteuer-ID 36574261809\nSteuer-ID 36574261809\n";
  const std::vector<Finding> findings = summarize(text, detect(text));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].place, "line 2");
  EXPECT_EQ(findings[0].count, 2u);
  EXPECT_EQ(describe(findings), "2 German tax ID (Steuer-ID) (line 2)");
}

TEST(Detectors, NumericTablesAreQuiet) {
  const unsigned seed = 20261201;
  std::mt19937_64 random(seed);
  std::string floats;
  std::string ids;
  for (int i = 0; i < 20000; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%.17g,%.9e\n", static_cast<double>(random()) / 1e19, static_cast<double>(random()) / 1e10);
    floats += line;
    ids += std::to_string(10'000'000'000ull + random() % 80'000'000'000ull) + "\n";
  }
  for (const Match& match : detect(floats, TextShape::table))
    ADD_FAILURE() << match.detector << " in floats, seed " << seed;
  for (const Match& match : detect(ids, TextShape::table))
    EXPECT_EQ(match.confidence, Confidence::low) << match.detector << " in ids, seed " << seed;
}

TEST(Detectors, EveryDetectorHasATitle) {
  for (const DetectorInfo& row : detector_table()) {
    EXPECT_EQ(detector_title(row.id), row.title);
    EXPECT_FALSE(row.method.empty());
  }
}
} // namespace
} // namespace remotemac::policies
