#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

// Owners of OpenSSL objects; for the .cpp files of this folder only.
namespace regatta::net::internal {

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};

using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;

/// Every value of one attribute of a name, e.g. NID_organizationName.
std::vector<std::string> name_values(const X509_NAME* name, int nid);

/// The newest entry of OpenSSL's error queue. Empties the queue.
std::string last_openssl_error();

}  // namespace regatta::net::internal
