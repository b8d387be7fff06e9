#pragma once

#include "lib/base/task.h"
#include "lib/net/http.h"

#include <cstdint>
#include <memory>
#include <string>

namespace regatta::apiserver {

/// A server that the API server calls. Holds no secrets.
struct Peer {
  std::string host;
  std::uint16_t port = 443;
  std::string server_name;  ///< in its certificate; empty: the host
  std::string ca_pem;       ///< the only authorities that are trusted; empty: none is
  friend auto operator<=>(const Peer&, const Peer&) = default;
};

/// The way to the servers that the API server itself calls: webhooks and those of APIServices.
class Outgoing {
 public:
  virtual ~Outgoing() = default;
  /// `invalid` when the bundle of authorities cannot be used.
  virtual Result<std::shared_ptr<net::HttpSender>> to(const Peer& peer) = 0;
};

/// HTTPS over connections that are kept. `certificate_pem` and `key_pem` are shown to servers that
/// ask for them; they may be empty.
std::shared_ptr<Outgoing> make_https_outgoing(Executor executor, Clock& clock,
                                              std::string certificate_pem, std::string key_pem);

}  // namespace regatta::apiserver
