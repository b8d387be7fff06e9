#pragma once

#include "kubeconfig/endpoint.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "operate/worker_account.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::operate {

struct RegistrationOptions {
  std::string cluster;                  ///< the name of the MultiKueueCluster
  std::string hub_ns = "kueue-system";  ///< of the hub's manager
  WorkerAccount account;
  std::string server;  ///< the worker's URL for the hub; empty: the kubeconfig's
  Duration token_for = std::chrono::hours(24 * 365);
  Duration timeout = std::chrono::minutes(2);  ///< until the worker is Active
};

/// A client of a worker with a token, to try it before the hub gets it.
struct Trial {
  virtual ~Trial() = default;
  virtual kube::Client& client() = 0;
};
using TryToken = std::function<Result<std::unique_ptr<Trial>>(const kubeconfig::Endpoint&)>;

struct RegistrationDeps {
  kube::Client& hub;
  kube::Client& worker;  ///< an administrator's
  Clock& clock;
  TryToken try_token;
  std::function<void(const std::string&)> say;  ///< what was done
};

/// Lets the hub use a worker, and gives it a new token when it may already. Everything is applied,
/// so it can be repeated after any failure. `worker_endpoint`: of the worker's kubeconfig.
Task<Status> register_worker(RegistrationDeps deps, RegistrationOptions options,
                             kubeconfig::Endpoint worker_endpoint);
/// Only the token is made anew. `not_found` when there is no such registration.
Task<Status> rotate_token(RegistrationDeps deps, RegistrationOptions options,
                          kubeconfig::Endpoint worker_endpoint);
/// Deletes what register_worker() made: on the hub, and with `worker` set on the worker. `conflict`
/// while a MultiKueueConfig names the worker.
Task<Status> remove_worker(kube::Client& hub, kube::Client* worker, RegistrationOptions options,
                           std::function<void(const std::string&)> say);

/// What register_worker() would apply, as YAML, without the token.
std::string dry_run(const RegistrationOptions& options, kubeconfig::Endpoint worker_endpoint);

}  // namespace regatta::operate
