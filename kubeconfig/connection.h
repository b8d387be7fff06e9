#pragma once

#include "kubeconfig/endpoint.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"

#include <memory>

namespace regatta::kubeconfig {

/// A client of one API server, and everything that the client refers to. Holds credentials: never
/// logged.
class Connection {
 public:
  /// `invalid` when the endpoint's certificates cannot be used. Does not connect yet. The base_path
  /// in `config` is replaced by the endpoint's. `clock` and `rng` must outlive the connection.
  static Result<std::unique_ptr<Connection>> create(const Executor& executor, Clock& clock,
                                                    Rng& rng, Endpoint endpoint,
                                                    kube::ClientConfig config = {},
                                                    net::HttpClientOptions http = {});

  kube::Client& client() { return client_; }
  net::HttpSender& sender() { return *http_; }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  Connection(Clock& clock, Rng& rng, Endpoint endpoint, std::unique_ptr<net::HttpClient> http,
             kube::ClientConfig config);

  Endpoint endpoint_;
  std::unique_ptr<net::HttpClient> http_;
  kube::Client client_;
};

}  // namespace regatta::kubeconfig
