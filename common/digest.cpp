#include "common/digest.h"

#include "common/check.h"
#include "common/text.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <vector>

namespace remotemac {

std::string Digest::hex() const { return to_hex(bytes); }

Result<Digest> Digest::from_hex(std::string_view text) {
  const auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  Digest out;
  if (text.size() != 64)
    return Error(ErrorCode::protocol, "a digest must be 64 hex digits, this has " + std::to_string(text.size()));
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = value(text[2 * i]);
    const int low = value(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return Error(ErrorCode::protocol, "a digest must be 64 lower-case hex digits");
    out.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return out;
}

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : m_impl(std::make_unique<Impl>()) {
  static const EVP_MD* const algorithm = EVP_sha256();
  RM_CHECK(m_impl->context != nullptr && EVP_DigestInit_ex(m_impl->context, algorithm, nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::uint8_t> bytes) { RM_CHECK(EVP_DigestUpdate(m_impl->context, bytes.data(), bytes.size()) == 1); }
void Sha256::update(std::string_view text) { RM_CHECK(EVP_DigestUpdate(m_impl->context, text.data(), text.size()) == 1); }

Digest Sha256::finish() {
  Digest out;
  unsigned size = 0;
  RM_CHECK(EVP_DigestFinal_ex(m_impl->context, out.bytes.data(), &size) == 1 && size == 32);
  return out;
}

Digest sha256(std::span<const std::uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Digest sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

std::string random_hex(std::size_t bytes) {
  std::vector<std::uint8_t> buffer(bytes);
  RM_CHECK(RAND_bytes(buffer.data(), static_cast<int>(buffer.size())) == 1);
  return to_hex(buffer);
}

} // namespace remotemac
