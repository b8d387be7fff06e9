#include "lib/net/pki.h"

#include "lib/net/openssl_ptr.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdlib>

namespace regatta::net {
namespace internal {

std::vector<std::string> name_values(const X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, value);
    if (size < 0) continue;
    values.emplace_back(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
  }
  return values;
}

std::string last_openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* text = code ? ERR_reason_error_string(code) : nullptr;
  return text ? text : "unknown OpenSSL error";
}

}  // namespace internal

namespace {

using internal::BioPtr;
using internal::KeyPtr;
using internal::X509Ptr;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, internal::FreeWith<X509_EXTENSION_free>>;
using StorePtr = std::unique_ptr<X509_STORE, internal::FreeWith<X509_STORE_free>>;
using VerificationPtr = std::unique_ptr<X509_STORE_CTX, internal::FreeWith<X509_STORE_CTX_free>>;

Error failed(std::string_view what) {
  return Error(Errc::invalid, std::string(what) + ": " + internal::last_openssl_error());
}

std::string contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::string certificate_to_pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return contents(bio.get());
}

std::string key_to_pem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return contents(bio.get());
}

BioPtr reader_of(std::string_view pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

X509Ptr certificate_from_pem(std::string_view pem) {
  const BioPtr bio = reader_of(pem);
  return X509Ptr(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

KeyPtr key_from_pem(std::string_view pem) {
  const BioPtr bio = reader_of(pem);
  // An encrypted key must fail; it must not ask for a password on the terminal.
  char no_password[] = "";
  return KeyPtr(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, no_password));
}

bool set_random_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  bytes[0] |= 0x40;  // positive, and always of the same length
  BIGNUM* number = BN_bin2bn(bytes, sizeof bytes, nullptr);
  const bool done = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool add_to_name(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

struct Extension {
  int nid;
  std::string value;
};

struct Blueprint {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<Extension> extensions;
  TimePoint now;
  Duration valid_for;
};

void set_validity(X509* certificate, const Blueprint& plan) {
  using std::chrono::seconds;
  const auto at = [](TimePoint t) {
    return std::chrono::duration_cast<seconds>(t.time_since_epoch()).count();
  };
  ASN1_TIME_set(X509_getm_notBefore(certificate), at(plan.now - backdated));
  ASN1_TIME_set(X509_getm_notAfter(certificate), at(plan.now + plan.valid_for));
}

/// Signed by `issuer`, or by its own key when `issuer` is null.
Result<KeyPair> make(const Blueprint& plan, X509* issuer, EVP_PKEY* issuer_key) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate(X509_new());
  if (!key || !certificate) return failed("cannot make a key");
  X509* const raw = certificate.get();
  X509_set_version(raw, X509_VERSION_3);
  set_validity(raw, plan);
  X509_NAME* subject = X509_get_subject_name(raw);
  bool fine = set_random_serial(raw) && X509_set_pubkey(raw, key.get()) == 1;
  for (const std::string& organization : plan.organizations) {
    fine = fine && add_to_name(subject, "O", organization);
  }
  if (!plan.common_name.empty()) fine = fine && add_to_name(subject, "CN", plan.common_name);
  X509* const signer = issuer ? issuer : raw;
  fine = fine && X509_set_issuer_name(raw, X509_get_subject_name(signer)) == 1;
  for (const Extension& extension : plan.extensions) {
    fine = fine && add_extension(raw, signer, extension.nid, extension.value);
  }
  fine = fine && X509_sign(raw, issuer_key ? issuer_key : key.get(), EVP_sha256()) != 0;
  if (!fine) return failed("cannot make a certificate for \"" + plan.common_name + "\"");
  return KeyPair{certificate_to_pem(raw), key_to_pem(key.get())};
}

Result<KeyPair> issue(const KeyPair& authority, Blueprint plan, const char* usage) {
  const X509Ptr issuer = certificate_from_pem(authority.certificate_pem);
  const KeyPtr key = key_from_pem(authority.key_pem);
  if (!issuer || !key) return failed("cannot read the certificate authority");
  plan.extensions.push_back({NID_basic_constraints, "critical,CA:FALSE"});
  plan.extensions.push_back({NID_key_usage, "critical,digitalSignature"});
  plan.extensions.push_back({NID_ext_key_usage, usage});
  plan.extensions.push_back({NID_subject_key_identifier, "hash"});
  plan.extensions.push_back({NID_authority_key_identifier, "keyid"});
  return make(plan, issuer.get(), key.get());
}

}  // namespace

Result<CertificateAuthority> CertificateAuthority::create(std::string_view common_name,
                                                          TimePoint now, Duration valid_for,
                                                          const std::vector<std::string>& orgs) {
  Blueprint plan{std::string(common_name), orgs, {}, now, valid_for};
  plan.extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                     {NID_key_usage, "critical,keyCertSign,cRLSign"},
                     {NID_subject_key_identifier, "hash"}};
  auto pair = make(plan, nullptr, nullptr);
  if (!pair) return pair.error();
  return CertificateAuthority(std::move(*pair));
}

Result<CertificateAuthority> CertificateAuthority::load(KeyPair pair) {
  const X509Ptr certificate = certificate_from_pem(pair.certificate_pem);
  if (!certificate) return failed("cannot read the authority's certificate");
  const KeyPtr key = key_from_pem(pair.key_pem);
  if (!key) return failed("cannot read the authority's key");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return failed("the authority's key does not belong to its certificate");
  }
  return CertificateAuthority(std::move(pair));
}

Result<KeyPair> CertificateAuthority::issue_server(const ServerNames& names, TimePoint now,
                                                   Duration valid_for) const {
  std::string alternatives;
  const auto add = [&](std::string_view kind, const std::string& name) {
    if (!alternatives.empty()) alternatives += ",";
    alternatives += std::string(kind) + name;
  };
  for (const std::string& name : names.dns_names) {
    // OpenSSL parses the text in its configuration syntax, in which these characters have a
    // meaning.
    if (name.find_first_of(",:\n") != std::string::npos) {
      return Error(Errc::invalid, "not a DNS name: " + name);
    }
    add("DNS:", name);
  }
  for (const std::string& address : names.ip_addresses) add("IP:", address);
  Blueprint plan{names.common_name, {}, {}, now, valid_for};
  if (!alternatives.empty()) plan.extensions.push_back({NID_subject_alt_name, alternatives});
  return issue(pair_, std::move(plan), "serverAuth");
}

Result<KeyPair> CertificateAuthority::issue_client(std::string_view common_name,
                                                   const std::vector<std::string>& organizations,
                                                   TimePoint now, Duration valid_for) const {
  Blueprint plan{std::string(common_name), organizations, {}, now, valid_for};
  return issue(pair_, std::move(plan), "clientAuth");
}

Result<SigningKey> make_signing_key() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return failed("cannot make a key");
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(bio.get(), key.get());
  return SigningKey{key_to_pem(key.get()), contents(bio.get())};
}

namespace {

Result<TimePoint> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return failed("cannot read the certificate's validity");
  return TimePoint(std::chrono::seconds(::timegm(&parts)));
}

std::time_t seconds_of(TimePoint at) {
  return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
}

}  // namespace

Result<TimePoint> valid_from(std::string_view certificate_pem) {
  const X509Ptr certificate = certificate_from_pem(certificate_pem);
  if (!certificate) return failed("cannot read the certificate");
  return time_of(X509_get0_notBefore(certificate.get()));
}

Result<TimePoint> valid_until(std::string_view certificate_pem) {
  const X509Ptr certificate = certificate_from_pem(certificate_pem);
  if (!certificate) return failed("cannot read the certificate");
  return time_of(X509_get0_notAfter(certificate.get()));
}

std::vector<std::string> certificates_in(std::string_view pem) {
  std::vector<std::string> out;
  const BioPtr bio = reader_of(pem);
  while (const X509Ptr one{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    out.push_back(certificate_to_pem(one.get()));
  }
  ERR_clear_error();
  return out;
}

Status check_server(const KeyPair& pair, std::string_view authorities_pem,
                    const std::string& dns_name, TimePoint at) {
  const X509Ptr certificate = certificate_from_pem(pair.certificate_pem);
  const KeyPtr key = key_from_pem(pair.key_pem);
  if (!certificate || !key) return failed("cannot read the certificate and its key");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return Error(Errc::invalid, "the key does not belong to the certificate");
  }
  const StorePtr store(X509_STORE_new());
  for (const std::string& pem : certificates_in(authorities_pem)) {
    X509_STORE_add_cert(store.get(), certificate_from_pem(pem).get());
  }
  const VerificationPtr verification(X509_STORE_CTX_new());
  X509_STORE_CTX_init(verification.get(), store.get(), certificate.get(), nullptr);
  X509_STORE_CTX_set_purpose(verification.get(), X509_PURPOSE_SSL_SERVER);
  X509_STORE_CTX_set_time(verification.get(), 0, seconds_of(at));
  X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(verification.get());
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  X509_VERIFY_PARAM_set1_host(wanted, dns_name.data(), dns_name.size());
  const bool accepted = X509_verify_cert(verification.get()) == 1;
  ERR_clear_error();
  if (accepted) return ok();
  const int why = X509_STORE_CTX_get_error(verification.get());
  return Error(Errc::denied, X509_verify_cert_error_string(why));
}

std::string random_token(std::size_t bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::vector<unsigned char> raw(bytes);
  if (RAND_bytes(raw.data(), static_cast<int>(raw.size())) != 1) std::abort();
  std::string out;
  for (const unsigned char c : raw) {
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

}  // namespace regatta::net
