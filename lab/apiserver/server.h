#pragma once

#include "lab/apiserver/core.h"
#include "lib/net/http.h"

#include <memory>

namespace regatta::apiserver {

/// A Kubernetes API server as a function from requests to answers: no sockets, no threads, time and
/// randomness from outside. Serve it with net::HttpServer, or call it directly in a simulation.
///
/// Every object is in memory; with `data_dir` every answered write is on disk as well. The server
/// runs no controllers: clients collect garbage, empty namespaces and run Jobs.
class Server final : public net::HttpHandler {
 public:
  /// `clock` and `rng` must outlive the server. With a data_dir the previous objects are there at
  /// once. An unreadable data_dir throws; start_server() returns a Result instead.
  Server(Executor executor, Clock& clock, Rng& rng, ServerOptions options = {});
  ~Server() override;

  Task<net::HttpResponse> handle(net::HttpRequest request) override;

  /// Follows APIServices: whether their servers are available, and what they serve; and establishes
  /// definitions with ServerOptions::definition_delay. Runs until cancelled.
  Task<> run();

  /// Drops all watch history, as a compaction and a restart do: resumed watches get 410.
  void compact();

  /// Takes over the objects and the resource definitions of another server before the first
  /// request, instead of its own objects except Namespaces: much cheaper than to send everything
  /// again.
  void start_as(const Server& model);

  /// Failures on purpose; they may be changed at any time.
  Faults& faults();
  /// Counts of requests, as in GET /_regatta/requests.
  Json requests() const;

  Store& store();
  const Registry& registry() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A server, or the reason why its data directory cannot be used.
Result<std::unique_ptr<Server>> start_server(Executor executor, Clock& clock, Rng& rng,
                                             ServerOptions options);

}  // namespace regatta::apiserver
