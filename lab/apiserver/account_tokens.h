#pragma once

#include "lab/apiserver/request.h"
#include "lab/apiserver/store.h"
#include "lib/base/clock.h"

#include <optional>
#include <string>
#include <string_view>

namespace regatta::apiserver {

/// The ServiceAccount a token is for.
struct TokenAccount {
  std::string ns, name, uid;
};

/// Tokens of service accounts: signed JSON web tokens (HS256). None is remembered, so they outlive
/// the server as long as the key does, and end early with their account.
class AccountTokens {
 public:
  /// `key` is secret. `store` outlives it.
  AccountTokens(std::string key, Store& store) : key_(std::move(key)), store_(store) {}

  std::string issue(const TokenAccount& account, const std::string& id, TimePoint now,
                    TimePoint expires) const;
  /// Whose it is; null when it is not one of ours, has expired, or its account is gone.
  std::optional<UserInfo> user_of(std::string_view token, TimePoint now) const;

 private:
  std::string key_;
  Store& store_;
};

}  // namespace regatta::apiserver
