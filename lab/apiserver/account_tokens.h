#pragma once

#include "lab/apiserver/request.h"
#include "lab/apiserver/store.h"
#include "lib/base/clock.h"

#include <optional>
#include <string>
#include <string_view>

namespace regatta::apiserver {

/// The ServiceAccount that a token stands for.
struct TokenAccount {
  std::string ns, name, uid;
  std::string secret{}, secret_uid{};  ///< of the Secret that the token is bound to, if it is
};

/// Tokens of service accounts: signed JSON web tokens (HS256). The server does not store them, so
/// they stay valid across restarts as long as the key does, and end early with their account, and
/// with the Secret that they are bound to.
class AccountTokens {
 public:
  /// `key` is secret. `store` must outlive this.
  AccountTokens(std::string key, Store& store) : key_(std::move(key)), store_(store) {}

  std::string issue(const TokenAccount& account, const std::string& id, TimePoint now,
                    TimePoint expires) const;
  /// The user of the token; null when this server did not issue it, it has expired, or its account
  /// is gone.
  std::optional<UserInfo> user_of(std::string_view token, TimePoint now) const;

 private:
  std::string key_;
  Store& store_;
};

}  // namespace regatta::apiserver
