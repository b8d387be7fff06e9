#pragma once

#include "lib/base/error.h"
#include "lib/base/task.h"

#include <string>
#include <utility>

namespace regatta::kube {

/// Where the bearer token of each request comes from. Client certificates belong to the sender.
class Credentials {
 public:
  virtual ~Credentials() = default;
  /// The token for the next request, or empty for none. Cheap when nothing changed.
  virtual Task<Result<std::string>> bearer_token() = 0;
  /// The server answered 401: the next bearer_token() must not come from a cache.
  virtual void rejected() {}
};

/// One token for ever.
class StaticToken final : public Credentials {
 public:
  explicit StaticToken(std::string token) : token_(std::move(token)) {}
  Task<Result<std::string>> bearer_token() override { co_return token_; }

 private:
  std::string token_;
};

}  // namespace regatta::kube
