#include "lab/apiserver/account_tokens.h"

#include "lab/terms.h"
#include "lib/base/base64.h"
#include "lib/base/digest.h"
#include "lib/base/json.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

constexpr std::string_view issuer = "https://kubernetes.default.svc";
constexpr std::string_view header = R"({"alg":"HS256","typ":"JWT"})";
constexpr std::size_t token_bytes_max = 8192;

std::int64_t seconds_of(TimePoint t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

/// Compares in constant time.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

/// Whether the object of the namespace that the claim is about is the one of then.
bool still_there(Store& store, std::string_view plural, const std::string& ns, const Json& claim) {
  const Shelf* shelf = store.find_shelf(plural);
  const StoredPtr found = shelf ? shelf->find(ns, text_at(claim, "name")) : nullptr;
  return found && text_at(found->value(), {"metadata", "uid"}) == text_at(claim, "uid");
}

}  // namespace

std::string AccountTokens::issue(const TokenAccount& account, const std::string& id, TimePoint now,
                                 TimePoint expires) const {
  Json claims = {{"aud", {issuer}},
                 {"exp", seconds_of(expires)},
                 {"iat", seconds_of(now)},
                 {"nbf", seconds_of(now)},
                 {"iss", issuer},
                 {"jti", id},
                 {"kubernetes.io",
                  {{"namespace", account.ns},
                   {"serviceaccount", {{"name", account.name}, {"uid", account.uid}}}}},
                 {"sub", "system:serviceaccount:" + account.ns + ":" + account.name}};
  if (!account.secret.empty()) {
    claims["kubernetes.io"]["secret"] = {{"name", account.secret}, {"uid", account.secret_uid}};
  }
  const std::string signed_part =
      base64url_encode(header) + "." + base64url_encode(dump_json(claims));
  return signed_part + "." + base64url_encode(hmac_sha256(key_, signed_part));
}

std::optional<UserInfo> AccountTokens::user_of(std::string_view token, TimePoint now) const {
  const std::size_t first = token.find('.'), last = token.rfind('.');
  if (token.size() > token_bytes_max || last == std::string_view::npos || first == last) return {};
  const auto signature = base64url_decode(token.substr(last + 1));
  if (!signature || !same(*signature, hmac_sha256(key_, token.substr(0, last)))) return {};
  const auto text = base64url_decode(token.substr(first + 1, last - first - 1));
  const auto claims = text ? parse_json(*text) : Result<Json>(Error(Errc::invalid, "no claims"));
  if (!claims || seconds_of(now) >= integer_at(*claims, "exp").value_or(0)) return {};
  const Json* about = member(*claims, "kubernetes.io");
  const Json* given = about ? member(*about, "serviceaccount") : nullptr;
  if (!given) return {};
  const std::string ns = text_at(*about, "namespace");
  const Json* secret = member(*about, "secret");
  if (!still_there(store_, "serviceaccounts", ns, *given)) return {};
  if (secret && !still_there(store_, "secrets", ns, *secret)) return {};
  UserInfo user;
  user.uid = text_at(*given, "uid");
  user.name = text_at(*claims, "sub");
  user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns};
  user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + text_at(*claims, "jti")};
  return user;
}

}  // namespace regatta::apiserver
