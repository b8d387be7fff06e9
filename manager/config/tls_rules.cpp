#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "manager/config/rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace regatta::manager {
namespace {

/// The suites of Go's crypto/tls, as Kubernetes offers them.
constexpr std::string_view secure[] = {"TLS_AES_128_GCM_SHA256",
                                       "TLS_AES_256_GCM_SHA384",
                                       "TLS_CHACHA20_POLY1305_SHA256",
                                       "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
                                       "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                                       "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
                                       "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                                       "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
                                       "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                                       "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
                                       "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                                       "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
                                       "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
                                       "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
                                       "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"};
/// Accepted, but not recommended.
constexpr std::string_view insecure[] = {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
                                         "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
                                         "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
                                         "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
                                         "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
                                         "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
                                         "TLS_RSA_WITH_AES_128_CBC_SHA",
                                         "TLS_RSA_WITH_AES_128_CBC_SHA256",
                                         "TLS_RSA_WITH_AES_128_GCM_SHA256",
                                         "TLS_RSA_WITH_AES_256_CBC_SHA",
                                         "TLS_RSA_WITH_AES_256_GCM_SHA384",
                                         "TLS_RSA_WITH_RC4_128_SHA"};
/// P-256, P-384, P-521, X25519 and the three with ML-KEM, by their numbers.
constexpr std::int64_t curves[] = {23, 24, 25, 29, 4587, 4588, 4589};
constexpr std::int64_t curve_max = 65535;

template <class List, class T>
bool has(const List& list, const T& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

std::string version_problem(const std::string& version) {
  const std::string advice = ". Please use VersionTLS12 or VersionTLS13";
  if (version.empty() || version == "VersionTLS12" || version == "VersionTLS13") return "";
  if (version == "VersionTLS10" || version == "VersionTLS11") return "invalid minVersion" + advice;
  return "invalid minVersion: unknown tls version " + api::in_quotes(version) + advice;
}

std::string suite_problem(const Json& names) {
  for (const Json& one : names) {
    const auto& name = one.get_ref<const std::string&>();
    if (has(secure, name) || has(insecure, name)) continue;
    return "invalid cipher suites: Cipher suite " + name +
           " not supported or doesn't exist. Please use the secure cipher names: [" +
           joined(secure, " ") + "]";
  }
  return "";
}

std::string curve_problem(const Json& ids) {
  const std::string what = "invalid curve preferences: ";
  std::set<std::int64_t> seen;
  for (const Json& one : ids) {
    const auto id = one.get<std::int64_t>();
    const std::string text = std::to_string(id);
    if (id <= 0 || id > curve_max) {
      return what + "curve preference " + text + " is out of range (must be 1-65535)";
    }
    if (!seen.insert(id).second) return what + "duplicate curve preference " + text;
    if (!has(curves, id)) {
      return what + "curve preference " + text + " is not supported by the current Go version";
    }
  }
  return "";
}

}  // namespace

void check_tls(const Json& c, api::ErrorList* errors) {
  const Json* tls = object_at(c, "tls");
  if (!tls) return;
  const Json& suites = list_or_empty(*tls, "cipherSuites");
  std::vector<std::string> problems;
  for (std::string& problem :
       std::vector<std::string>{version_problem(text_at(*tls, "minVersion")), suite_problem(suites),
                                curve_problem(list_or_empty(*tls, "curvePreferences"))}) {
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  const auto text = [&] {
    return webhooks::shaped_text(tls, webhooks::shape_type("config.TLSOptions"));
  };
  if (!problems.empty()) return errors->invalid("tls", text(), joined(problems, "\n"));
  if (text_at(*tls, "minVersion") == "VersionTLS13" && !suites.empty()) {
    errors->invalid("tls.cipherSuites",
                    webhooks::shaped_text(&suites, webhooks::shape_type("[]string")),
                    "may not be specified when `minVersion` is 'VersionTLS13'");
  }
}

}  // namespace regatta::manager
