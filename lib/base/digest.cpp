#include "lib/base/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace regatta {
namespace {

std::string digest_hex(const EVP_MD* algorithm, std::string_view data) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_Digest(data.data(), data.size(), bytes, &length, algorithm, nullptr);
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(length * 2);
  for (unsigned i = 0; i < length; ++i) {
    hex += digits[bytes[i] >> 4];
    hex += digits[bytes[i] & 15];
  }
  return hex;
}

}  // namespace

std::string sha1_hex(std::string_view data) {
  return digest_hex(EVP_sha1(), data);
}
std::string sha256_hex(std::string_view data) {
  return digest_hex(EVP_sha256(), data);
}

std::string hmac_sha256(std::string_view key, std::string_view data) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(), bytes, &length);
  return std::string(reinterpret_cast<const char*>(bytes), length);
}

}  // namespace regatta
