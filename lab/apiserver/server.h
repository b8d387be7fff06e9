#pragma once

#include "lab/apiserver/core.h"
#include "lib/net/http.h"

#include <memory>

namespace regatta::apiserver {

/// A Kubernetes API server as a function from requests to answers: no sockets, no threads, time and
/// randomness from outside. Serve it with net::HttpServer, or call it directly in simulation.
///
/// Every object lives in memory; with `data_dir` every answered write is on disk as well. The
/// server runs no controllers: garbage collection, namespaces' contents and Jobs are the business
/// of clients.
class Server final : public net::HttpHandler {
 public:
  /// `clock` and `rng` outlive the server. With a data_dir the previous objects are there at once;
  /// what cannot be read ends in an exception (start_server() is the way to a Result).
  Server(Executor executor, Clock& clock, Rng& rng, ServerOptions options = {});
  ~Server() override;

  Task<net::HttpResponse> handle(net::HttpRequest request) override;

  /// Forgets all watch history, as a compaction and restart does: resumed watches get 410.
  void compact();

  /// What fails on purpose; may be changed at any time.
  Faults& faults();
  /// Counts of requests, as GET /_regatta/requests answers.
  Json requests() const;

  Store& store();
  const Registry& registry() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A server, or why its data directory cannot be used.
Result<std::unique_ptr<Server>> start_server(Executor executor, Clock& clock, Rng& rng,
                                             ServerOptions options);

}  // namespace regatta::apiserver
